import type { UniversalRequest } from '../../runtime/completions/request.js';
import { formFields, generationSettings, languageOptions, refuseOtherAdapters } from '../../runtime/completions/settings.js';
import { Failure } from '../../schemas/errors.js';
import type { ContentPart, Message, Tool, ToolChoice } from '../../schemas/generated/common.js';
import type { Block, CountRequest, MessagesRequest, Source, Message as WireMessage } from '../../schemas/generated/universal/anthropic.js';

const refused = (path: string, why: string): Failure => new Failure('invalid', `${path}: ${why}.`);

/** A source as an address or data URI. Text is none. */
function urlOf({ type, url, media_type: media, data }: Source, path: string): string {
  if (type === 'url' && url) return url;
  if (type === 'base64' && media && data !== undefined) return `data:${media};base64,${data}`;
  throw refused(`${path}.source`, 'give base64 with media_type and data, or an url');
}

/** The parts of a block that are content of a message; blocks of calls, results and thoughts have none. */
function partsOf(block: Block, path: string): ContentPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text ?? '' }];
    case 'image':
      if (!block.source) throw refused(path, 'an image has a source');
      return [{ type: 'image_url', image_url: { url: urlOf(block.source, path) } }];
    case 'document':
      if (block.source?.type === 'text')
        return [{ type: 'text', text: `${block.title ? `${block.title}\n` : ''}${block.source.data ?? ''}` }];
      if (!block.source) throw refused(path, 'a document has a source');
      return [{ type: 'file', file: { file_data: urlOf(block.source, path) } }];
    case 'search_result':
      return [{ type: 'text', text: `${block.title ? `${block.title}\n` : ''}${resultText(block.content, path)}` }];
    default:
      return [];
  }
}

/** The text of a tool's result; what is no text in it is named. */
function resultText(content: Block['content'], path: string): string {
  if (!Array.isArray(content)) return content ?? '';
  return content
    .map((part, index) => {
      const { type, text } = part as { type?: unknown; text?: unknown };
      if (type === 'text' && typeof text === 'string') return text;
      throw refused(`${path}.content.${index}`, `a result of type ${JSON.stringify(type ?? null)} is not read here; send its text`);
    })
    .join('\n');
}

const contentOf = (parts: readonly ContentPart[]): Message['content'] =>
  parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('\n') : [...parts];

/** A turn of the user: results of tools first, each a message of its own, then what was said. */
function userMessages(blocks: readonly Block[], path: string): Message[] {
  const results: Message[] = [];
  const parts: ContentPart[] = [];
  for (const [index, block] of blocks.entries()) {
    const at = `${path}.content.${index}`;
    if (block.type !== 'tool_result') {
      if (block.type === 'tool_use') throw refused(at, 'only an assistant calls tools');
      parts.push(...partsOf(block, at));
      continue;
    }
    if (!block.tool_use_id) throw refused(`${at}.tool_use_id`, 'Field required');
    const text = resultText(block.content, at);
    results.push({ role: 'tool', tool_call_id: block.tool_use_id, content: block.is_error ? `Error: ${text}` : text });
  }
  return parts.length > 0 ? [...results, { role: 'user', content: contentOf(parts) }] : results;
}

/** A turn of the assistant; what it thought is its own matter. */
function assistantMessage(blocks: readonly Block[], path: string): Message {
  const parts = blocks.flatMap((block, index) => partsOf(block, `${path}.content.${index}`));
  const calls = blocks.flatMap(({ type, id, name, input }, index) => {
    if (type !== 'tool_use') return [];
    if (!id || !name) throw refused(`${path}.content.${index}`, 'a tool_use has an id and a name');
    return [{ id, type: 'function' as const, function: { name, arguments: JSON.stringify(input ?? {}) } }];
  });
  return { role: 'assistant', content: contentOf(parts), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

function messagesOf({ role, content }: WireMessage, index: number): Message[] {
  if (typeof content === 'string') return [{ role, content }];
  const path = `messages.${index}`;
  return role === 'user' ? userMessages(content, path) : [assistantMessage(content, path)];
}

function toolOf({ type, name, description, input_schema: parameters }: NonNullable<CountRequest['tools']>[number], index: number): Tool {
  if (type !== undefined && type !== null && type !== 'custom')
    throw refused(
      `tools.${index}`,
      `a tool of type "${type}" runs on Anthropic's servers, not here; give tools of your own, with an input_schema`,
    );
  return { type: 'function', function: { name, ...(description ? { description } : {}), parameters: parameters ?? { type: 'object' } } };
}

function choiceOf({ type, name }: NonNullable<CountRequest['tool_choice']>): ToolChoice {
  if (type === 'any') return 'required';
  return type === 'tool' ? { type: 'function', function: { name: name ?? '' } } : type;
}

/** What a request and the counting of one have in common. */
export function promptOf(body: CountRequest): UniversalRequest {
  const { system, tools, tool_choice: choice, thinking, output_config: output, ...rest } = body;
  refuseOtherAdapters(rest, (rest as Partial<MessagesRequest>).extra_body);
  const told = typeof system === 'string' ? system : (system ?? []).map(({ text }) => text).join('\n\n');
  const wanted: UniversalRequest = {
    model: body.model,
    messages: [...(told === '' ? [] : [{ role: 'system' as const, content: told }]), ...body.messages.flatMap(messagesOf)],
    options: {},
    autoTruncate: false,
  };
  if (tools?.length) wanted.tools = tools.map(toolOf);
  if (choice) {
    wanted.tool_choice = choiceOf(choice);
    if (choice.disable_parallel_tool_use) wanted.parallel_tool_calls = false;
  }
  if (thinking) wanted.think = thinking.type !== 'disabled';
  if (output?.format) wanted.response_format = { type: 'json_schema', json_schema: { schema: output.format.schema, strict: true } };
  return wanted;
}

/** A checked body as the runtime takes it. Throws `invalid` for blocks and tools that cannot be, with their place. */
export function messagesRequest(body: MessagesRequest): UniversalRequest {
  const extra = body.extra_body ?? {};
  const wanted: UniversalRequest = {
    ...promptOf(body),
    max_tokens: body.max_tokens,
    stream: body.stream === true,
    options: languageOptions({}, extra),
    form: formFields({}, extra),
  };
  for (const name of ['temperature', 'top_p', 'top_k'] as const) {
    const value = body[name];
    if (value !== undefined && value !== null) wanted[name] = value;
  }
  if (body.stop_sequences?.length) wanted.stop = body.stop_sequences;
  Object.assign(wanted, generationSettings({ lora: body.lora }, extra));
  const budget = body.thinking?.budget_tokens;
  if (wanted.think !== true || budget === undefined) return wanted;
  if (budget >= body.max_tokens)
    throw refused('thinking.budget_tokens', `${budget} must be less than max_tokens, which is ${body.max_tokens}`);
  return { ...wanted, thinking_budget: budget, max_tokens: body.max_tokens - budget };
}
