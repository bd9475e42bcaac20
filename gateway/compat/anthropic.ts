import { randomBytes } from 'node:crypto';
import type { CollectedCompletion, Completion, CompletionPart } from '../../runtime/completions/contract.js';
import { collect } from '../../runtime/providers/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type { Usage } from '../../schemas/generated/common.js';
import type { CountRequest, MessagesRequest, MessagesResponse } from '../../schemas/generated/universal/anthropic.js';
import { CHAT_BODY_BYTES } from '../http/body.js';
import { messagesRequest, promptOf } from './anthropic-request.js';

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

function whole(answer: CollectedCompletion, id: string, model: string, stops: readonly string[]): MessagesResponse {
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

async function create(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as MessagesRequest;
  const completion = await runtime.completions.open(messagesRequest(body), request.signal);
  const headers = { 'request-id': request.id };
  const about = [messageId(), body.model, body.stop_sequences ?? []] as const;
  if (body.stream) return { headers, events: events(completion, ...about) };
  return { headers, json: whole(await collect(completion.parts), ...about) };
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
