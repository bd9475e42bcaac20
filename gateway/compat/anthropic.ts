import { randomBytes } from 'node:crypto';
import { collect } from '../../runtime/completions/collect.js';
import type { CollectedCompletion, Completion, CompletionPart } from '../../runtime/completions/contract.js';
import type { UniversalRequest } from '../../runtime/completions/request.js';
import { formFields, generationSettings, languageOptions, refuseOtherAdapters } from '../../runtime/completions/settings.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { ContentPart, Message, Tool, ToolChoice, Usage } from '../../schemas/generated/common.js';
import type {
  Block,
  CountRequest,
  MessagesRequest,
  MessagesResponse,
  Source,
  Message as WireMessage,
} from '../../schemas/generated/universal/anthropic.js';
import { CHAT_BODY_BYTES } from '../http/body.js';

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
      if (block.text === undefined) throw refused(`${path}.text`, 'Field required');
      return [{ type: 'text', text: block.text }];
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

/** Parts as content: texts alone are one, with `between` between them. */
const contentOf = (parts: readonly ContentPart[], between: string): Message['content'] =>
  parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join(between) : [...parts];

/** A turn of the user: results of tools first, each a message of its own, then what was said. */
function userMessages(blocks: readonly Block[], path: string): Message[] {
  const results: Message[] = [];
  const parts: ContentPart[] = [];
  for (const [index, block] of blocks.entries()) {
    const at = `${path}.content.${index}`;
    if (block.type !== 'tool_result') {
      if (block.type === 'tool_use') throw refused(at, 'only an assistant calls tools');
      if (block.type.endsWith('thinking')) throw refused(at, 'only an assistant thinks');
      parts.push(...partsOf(block, at));
      continue;
    }
    if (!block.tool_use_id) throw refused(`${at}.tool_use_id`, 'Field required');
    const text = resultText(block.content, at);
    results.push({ role: 'tool', tool_call_id: block.tool_use_id, content: block.is_error ? `Error: ${text}` : text });
  }
  if (blocks.length === 0) throw refused(`${path}.content`, 'a message of the user has at least one block');
  return parts.length > 0 ? [...results, { role: 'user', content: contentOf(parts, '\n') }] : results;
}

/** A turn of the assistant, whose blocks are pieces of one text; what it thought is its own matter. */
function assistantMessage(blocks: readonly Block[], path: string): Message {
  const parts = blocks.flatMap((block, index) => partsOf(block, `${path}.content.${index}`));
  const calls = blocks.flatMap(({ type, id, name, input }, index) => {
    if (type !== 'tool_use') return [];
    if (!id || !name) throw refused(`${path}.content.${index}`, 'a tool_use has an id and a name');
    return [{ id, type: 'function' as const, function: { name, arguments: JSON.stringify(input ?? {}) } }];
  });
  return { role: 'assistant', content: contentOf(parts, ''), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
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

function choiceOf({ type, name }: NonNullable<CountRequest['tool_choice']>, tools: CountRequest['tools']): ToolChoice {
  if (type !== 'any' && type !== 'tool') return type;
  if (!tools?.length) throw refused('tool_choice', `type "${type}" has a tool called, and tools has none; add one, or give type "auto"`);
  if (type === 'any') return 'required';
  if (!name) throw refused('tool_choice.name', 'Field required');
  return { type: 'function', function: { name } };
}

/** Throws `invalid` for a call without a result in the turn behind it, and for a result without a call in the turn before: nobody could tell what answers what. */
function checkResults(messages: readonly WireMessage[]): void {
  const open = new Map<string, string>();
  const closeTurn = (): void => {
    for (const [id, path] of open) throw refused(path, `tool_use ${JSON.stringify(id)} has no tool_result in the message behind it`);
  };
  for (const [index, { role, content }] of messages.entries()) {
    const path = `messages.${index}`;
    if (role === 'assistant' && messages[index - 1]?.role === 'user') closeTurn();
    for (const { type, id, tool_use_id: of } of typeof content === 'string' ? [] : content) {
      if (type === 'tool_use') open.set(id!, path);
      else if (type === 'tool_result' && role === 'user' && !open.delete(of!))
        throw refused(
          path,
          `tool_result ${JSON.stringify(of)} has no tool_use of this id in the message before it, or is its second result`,
        );
    }
  }
  closeTurn();
}

/**
 * Whether the answer goes on in the last message, as Anthropic has it where that is one of the assistant. Throws `invalid` for one in which nothing can go on; an empty one is where
 * an answer begins.
 */
function goesOn({ messages, thinking, output_config: output }: CountRequest): boolean {
  const last = messages.at(-1)!;
  if (last.role !== 'assistant') return false;
  const path = `messages.${messages.length - 1}`;
  if (messages.length === 1) throw refused(path, 'there is nothing to answer; begin with a message of the user');
  const blocks: readonly Block[] = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
  const text = blocks.map((block) => block.text ?? '').join('');
  if (text === '') return true;
  if (/\s$/.test(text)) throw refused(path, 'final assistant content cannot end with trailing whitespace; cut it off');
  if (output?.format)
    throw refused('output_config.format', `the answer goes on in ${path}, and one of a given form begins anew; leave out one of the two`);
  if (thinking?.type === 'enabled' && !blocks[0]!.type.endsWith('thinking'))
    throw refused('thinking', `the answer goes on in ${path}, and what is begun is not thought about anew; leave out one of the two`);
  return true;
}

/** What a request and the counting of one have in common. */
export function promptOf(body: CountRequest): UniversalRequest {
  const { system, tools, tool_choice: choice, thinking, output_config: output, ...rest } = body;
  refuseOtherAdapters(rest, (rest as Partial<MessagesRequest>).extra_body);
  const said = body.messages.flatMap(messagesOf);
  checkResults(body.messages);
  const told = typeof system === 'string' ? system : (system ?? []).map(({ text }) => text).join('\n\n');
  const wanted: UniversalRequest = {
    model: body.model,
    messages: [...(told === '' ? [] : [{ role: 'system' as const, content: told }]), ...said],
    options: {},
    autoTruncate: false,
    continue_final_message: goesOn(body),
  };
  if (tools?.length) wanted.tools = tools.map(toolOf);
  if (choice) {
    wanted.tool_choice = choiceOf(choice, tools);
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

const STOPS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'end_turn' } as const;

const messageId = (): string => `msg_${randomBytes(12).toString('hex')}`;
const callId = (id: string | undefined): string =>
  `toolu_${(id ?? randomBytes(12).toString('hex')).replace(/^call_/, '').replaceAll('-', '')}`;
const usageOf = ({ prompt_tokens, completion_tokens }: Usage): MessagesResponse['usage'] => ({
  input_tokens: prompt_tokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: completion_tokens,
});

/** Why an answer ended: a stop text counts where the request gave it. */
function endOf(reason: keyof typeof STOPS, stopText: string | undefined, stops: readonly string[]) {
  const isAsked = stopText !== undefined && stops.includes(stopText);
  return { stop_reason: isAsked ? 'stop_sequence' : STOPS[reason], stop_sequence: isAsked ? stopText : null } as const;
}

/** Input of a call; what an answer was cut in stays text. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return { arguments: text };
  }
}

function wholeAnswer(answer: CollectedCompletion, id: string, model: string, stops: readonly string[]): MessagesResponse {
  const { text, reasoning, toolCalls, finishReason, stopText, usage } = answer;
  const content = [
    ...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: '' }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...toolCalls.map((call) => ({
      type: 'tool_use',
      id: callId(call.id),
      name: call.function.name,
      input: inputOf(call.function.arguments),
    })),
  ];
  return { id, type: 'message', role: 'assistant', model, content, ...endOf(finishReason, stopText, stops), usage: usageOf(usage) };
}

const frame = (event: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** The blocks of a streamed answer: at most one is open, and each ends before the next begins. */
class Blocks {
  #index = -1;
  /** What the open block is: its kind, and of a call which. */
  #open: string | undefined;

  text(text: string): string {
    return this.#in('text', { type: 'text', text: '' }) + this.#delta({ type: 'text_delta', text });
  }

  thinking(thinking: string): string {
    return this.#in('thinking', { type: 'thinking', thinking: '', signature: '' }) + this.#delta({ type: 'thinking_delta', thinking });
  }

  call({ index, id, name, arguments: more }: CompletionPart & { type: 'tool_call' }): string {
    const begin = this.#in(`call ${index}`, { type: 'tool_use', id: callId(id), name: name ?? '', input: {} });
    return begin + (more ? this.#delta({ type: 'input_json_delta', partial_json: more }) : '');
  }

  end(): string {
    if (this.#open === undefined) return '';
    const signature = this.#open === 'thinking' ? this.#delta({ type: 'signature_delta', signature: '' }) : '';
    this.#open = undefined;
    return signature + frame({ type: 'content_block_stop', index: this.#index });
  }

  #in(kind: string, block: object): string {
    if (this.#open === kind) return '';
    const before = this.end();
    this.#open = kind;
    this.#index += 1;
    return before + frame({ type: 'content_block_start', index: this.#index, content_block: block });
  }

  #delta(delta: object): string {
    return frame({ type: 'content_block_delta', index: this.#index, delta });
  }
}

/** The events of a message in the order that Anthropic's clients read. A failure is thrown: the stream then ends with an event of type `error`. */
async function* events(
  completion: Completion,
  id: string,
  model: string,
  stops: readonly string[],
): AsyncGenerator<string, void, undefined> {
  const blocks = new Blocks();
  const usage = { ...usageOf({ prompt_tokens: completion.contextUsage?.prompt_tokens ?? 0, completion_tokens: 0, total_tokens: 0 }) };
  const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage };
  let begin = frame({ type: 'message_start', message }) + frame({ type: 'ping' });
  for await (const part of completion.parts) {
    let text = '';
    if (part.type === 'text') text = blocks.text(part.text);
    else if (part.type === 'reasoning') text = blocks.thinking(part.text);
    else if (part.type === 'tool_call') text = blocks.call(part);
    else if (part.type === 'progress') text = frame({ type: 'ping' });
    else if (part.type === 'finish') {
      const delta = endOf(part.reason, part.stopText, stops);
      text = blocks.end() + frame({ type: 'message_delta', delta, usage: usageOf(part.usage) }) + frame({ type: 'message_stop' });
    }
    yield begin + text;
    begin = '';
  }
}

/** Throws for what a request leaves to Anthropic's servers: without it the answer would be another one than was asked for. */
function refuseUnkept({ thread, mcp_servers: servers, container }: MessagesRequest): void {
  if (thread)
    // By these details the SDKs know that they have to send the whole conversation, as their runners of tools then do by themselves.
    throw new Failure('bad_request', 'thread: conversations are not kept here; send all messages, without thread.', {
      code: 'ThreadUnsupported',
      fields: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
    });
  if (servers?.length)
    throw refused('mcp_servers', 'tool servers are called by projects, not here; name them in a project, or give tools of your own');
  if (container) throw refused('container', "code runs in containers on Anthropic's servers, not here; leave it out");
}

async function create(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as MessagesRequest;
  refuseUnkept(body);
  const completion = await runtime.completions.open(messagesRequest(body), request.signal);
  const headers = { 'request-id': request.id };
  const about = [messageId(), body.model, body.stop_sequences ?? []] as const;
  if (body.stream) return { headers, events: events(completion, ...about) };
  return { headers, json: wholeAnswer(await collect(completion.parts), ...about) };
}

async function count(runtime: Runtime, { body, signal }: Request): Promise<Reply> {
  const { tokens } = await runtime.completions.render(promptOf(body as CountRequest), signal);
  return { json: { input_tokens: tokens.length } };
}

/** Anthropic's messages API on the port of the universal runtime. */
export const anthropicEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/messages',
    id: 'anthropic_messages',
    access: 'users',
    summary: "Complete a conversation, as Anthropic's API does",
    tag: 'anthropic',
    body: 'universal/anthropic#MessagesRequest',
    response: 'universal/anthropic#MessagesResponse',
    streams: true,
    bodyLimitBytes: CHAT_BODY_BYTES,
    errorShape: 'anthropic',
    handler: create,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/messages/count_tokens',
    id: 'anthropic_count_tokens',
    access: 'users',
    summary: "Count the tokens of a conversation, as Anthropic's API does",
    tag: 'anthropic',
    body: 'universal/anthropic#CountRequest',
    response: 'universal/anthropic#CountResponse',
    bodyLimitBytes: CHAT_BODY_BYTES,
    errorShape: 'anthropic',
    handler: count,
  }),
];
