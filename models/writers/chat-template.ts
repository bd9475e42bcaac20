/**
 * A ChatML template: system, user, assistant and tool turns, tools rendered as JSON lines for `<tool_call>` answers,
 * thinking of earlier turns dropped, `enable_thinking = false` closing the thinking block in the prompt.
 * Line breaks are written as expressions, so that it renders alike with and without trimmed blocks.
 */
export const CHATML_TEMPLATE = String.raw`{%- macro words(content) -%}
{%- if content is string -%}{{- content -}}
{%- elif content -%}{%- for part in content -%}{%- if part.type == 'text' -%}{{- part.text -}}{%- endif -%}{%- endfor -%}
{%- endif -%}
{%- endmacro -%}
{%- set told = messages and messages[0].role == 'system' -%}
{%- if tools or told -%}
{{- '<|im_start|>system\n' -}}
{%- if told -%}{{- words(messages[0].content) -}}{%- endif -%}
{%- if tools -%}
{%- if told -%}{{- '\n\n' -}}{%- endif -%}
{{- 'Functions you may call, one JSON object per line:\n<tools>' -}}
{%- for tool in tools -%}{{- '\n' + (tool | tojson) -}}{%- endfor -%}
{{- '\n</tools>\nTo call one, answer with its name and arguments as JSON:\n<tool_call>\n{"name": "...", "arguments": {}}\n</tool_call>' -}}
{%- endif -%}
{{- '<|im_end|>\n' -}}
{%- endif -%}
{%- for turn in messages -%}
{%- if turn.role == 'tool' -%}
{{- '<|im_start|>tool\n<tool_response>\n' + words(turn.content) + '\n</tool_response><|im_end|>\n' -}}
{%- elif turn.role == 'assistant' -%}
{%- set said = words(turn.content) -%}
{%- if '</think>' in said -%}{%- set said = said.split('</think>')[-1].lstrip('\n') -%}{%- endif -%}
{{- '<|im_start|>assistant\n' + said -}}
{%- if turn.tool_calls -%}
{%- for call in turn.tool_calls -%}
{%- set wanted = call.function if call.function else call -%}
{%- if said or not loop.first -%}{{- '\n' -}}{%- endif -%}
{{- '<tool_call>\n{"name": "' + wanted.name + '", "arguments": ' -}}
{%- if wanted.arguments is string -%}{{- wanted.arguments -}}{%- else -%}{{- wanted.arguments | tojson -}}{%- endif -%}
{{- '}\n</tool_call>' -}}
{%- endfor -%}
{%- endif -%}
{{- '<|im_end|>\n' -}}
{%- elif not (turn.role == 'system' and loop.first) -%}
{{- '<|im_start|>' + turn.role + '\n' + words(turn.content) + '<|im_end|>\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\n' -}}
{%- if enable_thinking is defined and enable_thinking is false -%}{{- '<think>\n\n</think>\n\n' -}}{%- endif -%}
{%- endif -%}
`;

/** ChatML without tools and thinking, for models of which no words are expected: servers then pass their text through unparsed. */
export const PLAIN_CHATML_TEMPLATE = [
  "{%- for turn in messages -%}{{- '<|im_start|>' + turn.role + '\\n' + turn.content + '<|im_end|>\\n' -}}{%- endfor -%}",
  "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
].join('\n');
