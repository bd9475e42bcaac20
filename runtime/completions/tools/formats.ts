import { Failure } from '../../../schemas/errors.js';
import type { Message, Tool, ToolChoice } from '../../../schemas/generated/common.js';
import { isObject } from '../../base/json.js';
import { log } from '../../base/log.js';
import { toolsAsText } from '../../engines/language/templates/adaptation.js';
import { type PlainMessage, plainMessages } from '../messages.js';

/** What must come out: anything (`auto`), at least one call (`required`), or one call of the only tool left (`named`). */
type ToolMode = 'auto' | 'required' | 'named';

/** The usable tools of a request. With no tools the mode is `auto`. */
export interface ToolOffer {
  tools: Tool[];
  mode: ToolMode;
}

/** Why a definition cannot be used; null when it can. */
function flawOf(tool: unknown, known: ReadonlySet<string>): string | null {
  if (!isObject(tool) || tool.type !== 'function') return 'its type is not "function"';
  const definition = tool.function;
  if (!isObject(definition)) return 'it has no function object';
  if (typeof definition.name !== 'string' || definition.name.trim() === '') return 'its name is empty or missing';
  if (known.has(definition.name)) return `a tool named ${definition.name} came before it`;
  if (definition.parameters !== undefined && definition.parameters !== null && !isObject(definition.parameters))
    return 'its parameters are not an object';
  return null;
}

/** The definitions that can be used, in order; the others are skipped with a warning in the log. */
export function usableTools(tools: readonly unknown[] | null | undefined): Tool[] {
  const known = new Set<string>();
  const usable: Tool[] = [];
  for (const [index, tool] of (tools ?? []).entries()) {
    const flaw = flawOf(tool, known);
    if (flaw !== null) {
      log('warn', `tool definition ${index} is skipped: ${flaw}`);
      continue;
    }
    known.add((tool as Tool).function.name);
    usable.push(tool as Tool);
  }
  return usable;
}

/** The name in `{function: {name}}`. */
function nameIn(value: unknown): string | undefined {
  const named = isObject(value) && isObject(value.function) ? value.function.name : undefined;
  return typeof named === 'string' ? named : undefined;
}

/** The tools of these names. Throws `bad_request` for one that is not there. */
function toolsNamed(usable: readonly Tool[], names: readonly string[]): Tool[] {
  const missing = names.find((name) => !usable.some((tool) => tool.function.name === name));
  if (missing === undefined) return usable.filter((tool) => names.includes(tool.function.name));
  const known = usable.map((tool) => tool.function.name).join(', ') || 'none';
  throw new Failure('bad_request', `tool_choice names the tool "${missing}", which is not in tools; known tools: ${known}.`, {
    code: 'unknown_tool',
  });
}

/** `{mode, tools}` of `allowed_tools`, each tool by its name; undefined for any other choice. */
function allowedTools(choice: ToolChoice | undefined): { readonly mode: unknown; readonly names: string[] } | undefined {
  const allowed = isObject(choice) && choice.type === 'allowed_tools' ? choice.allowed_tools : undefined;
  if (!isObject(allowed) || !Array.isArray(allowed.tools)) return undefined;
  return {
    mode: allowed.mode,
    names: allowed.tools.flatMap((tool) => nameIn(tool) ?? (isObject(tool) && typeof tool.name === 'string' ? tool.name : [])),
  };
}

/**
 * Reads `tools` and `tool_choice`. `none` offers nothing; a named tool is offered alone, `allowed_tools` offers those that it names; an
 * unknown word means `auto`, with a warning. A named tool that does not exist, or a forced call without tools, is `Failure('bad_request')`.
 */
export function offerTools(tools: readonly unknown[] | null | undefined, choice: ToolChoice | undefined): ToolOffer {
  if (choice === 'none') return { tools: [], mode: 'auto' };
  const usable = usableTools(tools);
  const allowed = allowedTools(choice);
  const offered = allowed ? toolsNamed(usable, allowed.names) : usable;
  if (choice === 'required' || allowed?.mode === 'required') {
    if (offered.length === 0)
      throw new Failure('bad_request', 'tool_choice is "required", but the request has no usable tool; add one to tools, or use "auto".');
    return { tools: offered, mode: 'required' };
  }
  const wanted = nameIn(choice);
  if (wanted !== undefined) return { tools: toolsNamed(usable, [wanted]), mode: 'named' };
  if (!allowed && choice !== undefined && choice !== null && choice !== 'auto')
    log('warn', 'tool_choice is not auto, none, required, a named function or allowed_tools; auto is used');
  return { tools: offered, mode: 'auto' };
}

const CALL_SHAPE = '<tool_call>{"name": "tool name", "arguments": {"parameter": "value"}}</tool_call>';

function instruction(offer: ToolOffer): string {
  if (offer.mode === 'named')
    return `Your answer must be exactly one call of the tool ${offer.tools[0]?.function.name}, and nothing else, in this form:`;
  if (offer.mode === 'required') return 'Your answer must be at least one tool call, and nothing else, each in this form:';
  return 'If a tool helps with the request, call it by writing a line in the form below; otherwise answer in plain text. One line per call:';
}

/** The text that tells a model which tools there are and how to call them. */
function toolText(offer: ToolOffer): string {
  const lines = offer.tools.map((tool) => `<tool>${JSON.stringify(tool.function)}</tool>`);
  return [
    'These tools can be called. Each line describes one, with its parameters as a JSON Schema.',
    '<tools>',
    ...lines,
    '</tools>',
    instruction(offer),
    CALL_SHAPE,
  ].join('\n');
}

/** Appends the tool text to the first system message, or puts a system message with it in front. No tools: the same messages. */
export function injectOffer<M extends Message>(messages: readonly M[], offer: ToolOffer): (M | PlainMessage)[] {
  if (offer.tools.length === 0) return [...messages];
  const text = toolText(offer);
  const at = messages.findIndex(
    (message) => (message.role === 'system' || message.role === 'developer') && typeof message.content === 'string',
  );
  if (at < 0) return [{ role: 'system', content: text }, ...messages];
  return messages.map((message, index) =>
    index === at ? { ...message, content: message.content === '' ? text : `${message.content}\n\n${text}` } : message,
  );
}

/** Prompt-based tools from a request's own fields; see `injectOffer` and `offerTools`. The input stays as it is. */
export function injectTools(messages: readonly Message[], tools: readonly unknown[] | null | undefined, choice?: ToolChoice): Message[] {
  return injectOffer(messages, offerTools(tools, choice));
}

/**
 * A history without tool roles, for templates that know none: earlier calls become text of the assistant, and tool results that follow each
 * other become one user message.
 */
export const toolHistoryAsText = (messages: readonly Message[]): PlainMessage[] => [...toolsAsText(plainMessages(messages))];

/** How a family of models writes tool calls. */
export interface ToolFormat {
  readonly name: string;
  /** True when a chat template teaches this form. */
  taughtBy(template: string): boolean;
  /** Text that starts a call, or a list of calls. */
  readonly open: string;
  /** Text that ends a call; empty where the JSON itself ends it. */
  readonly close: string;
  /** Calls come as one JSON array after `open`. */
  readonly list: boolean;
  /** What an answer may start with in place of `open`, blank space aside, since engines may not print that token; empty = nothing. */
  readonly bareStart: string;
  /** What separates calls that follow each other without a tag. */
  readonly separator: string;
  /** The member that holds the arguments. */
  readonly argumentsKey: 'arguments' | 'parameters';
}

const hermes: ToolFormat = {
  name: 'hermes',
  taughtBy: (template) => template.includes('<tool_call>') && !template.includes('<function='),
  open: '<tool_call>',
  close: '</tool_call>',
  list: false,
  bareStart: '',
  separator: '',
  argumentsKey: 'arguments',
};

const mistral: ToolFormat = {
  name: 'mistral',
  // Later Mistral templates write the name outside the JSON, behind these markers.
  taughtBy: (template) => template.includes('[TOOL_CALLS]') && !template.includes('[ARGS]') && !template.includes('[CALL_ID]'),
  open: '[TOOL_CALLS]',
  close: '',
  list: true,
  bareStart: '[{"name"',
  separator: ',',
  argumentsKey: 'arguments',
};

const llama3: ToolFormat = {
  name: 'llama3',
  taughtBy: (template) => template.includes('<|start_header_id|>') && template.includes('"parameters"'),
  open: '<|python_tag|>',
  close: '',
  list: false,
  bareStart: '{"name"',
  separator: ';',
  argumentsKey: 'parameters',
};

/** Every form that is parsed; the first that a template teaches is used. */
export const TOOL_FORMATS = [hermes, mistral, llama3] as const satisfies readonly ToolFormat[];

/** The form of prompt-based tools. */
export const INJECTED_FORMAT: ToolFormat = hermes;

/** The form that a chat template teaches its model; null when it is none of ours, and tools go into the prompt as text. */
export function formatOf(template: string): ToolFormat | null {
  return TOOL_FORMATS.find((format) => format.taughtBy(template)) ?? null;
}
