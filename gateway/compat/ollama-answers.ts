import { UNTIL_CONTEXT_ENDS } from '../../runtime/completions/budget.js';
import type { CompletionPart } from '../../runtime/completions/contract.js';
import { optionParts } from '../../runtime/completions/named/options.js';
import type { UniversalRequest } from '../../runtime/completions/request.js';
import { collect } from '../../runtime/providers/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Reply, Request } from '../../schemas/endpoint.js';
import type { Message } from '../../schemas/generated/common.js';
import type { ChatRequest, GenerateRequest, Message as OllamaMessage } from '../../schemas/generated/universal/ollama.js';
import { CHAT_BODY_BYTES } from '../http/body.js';
import { nanoseconds, ollamaEndpoint, stayOf } from './ollama-endpoint.js';

/** How the base64 of an image begins. */
const IMAGE_TYPES: readonly (readonly [string, string])[] = [
  ['iVBOR', 'png'],
  ['/9j/', 'jpeg'],
  ['R0lG', 'gif'],
  ['UklGR', 'webp'],
];

/** A call as Ollama's clients read it: arguments are an object. */
interface WireCall {
  readonly function: { readonly name: string; readonly arguments: unknown };
}

/** What an answer says in one piece: text, what was thought, or calls. */
interface Said {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly WireCall[];
}

/** What the two ways of asking differ in: how a piece of an answer is written. */
type Write = (said: Said) => object;

/** The content of a message with images as parts. */
function withImages(text: string, images: readonly string[] | null | undefined): Message['content'] {
  if (!images?.length) return text;
  const parts = images.map((data) => {
    const type = IMAGE_TYPES.find(([head]) => data.startsWith(head))?.[1] ?? 'png';
    return { type: 'image_url' as const, image_url: { url: `data:image/${type};base64,${data}` } };
  });
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts];
}

/** Ollama's messages as the runtime's; a call of its history has no id, so that results belong to the calls before them in order. */
function messagesOf(messages: readonly OllamaMessage[]): Message[] {
  let waiting: string[] = [];
  let made = 0;
  const fresh = (): string => {
    made += 1;
    return `call_${made}`;
  };
  return messages.map((message) => {
    const { role, content, images, tool_calls: calls } = message;
    if (role === 'tool') {
      const id = message.tool_call_id ?? waiting.shift() ?? fresh();
      return { role, content: content ?? '', tool_call_id: id, ...(message.tool_name ? { name: message.tool_name } : {}) };
    }
    const own: Message = { role, content: withImages(content ?? '', images) };
    if (!calls?.length) return own;
    waiting = [];
    own.tool_calls = calls.map((call) => {
      const id = call.id ?? fresh();
      waiting.push(id);
      return { id, type: 'function', function: { name: call.function.name, arguments: JSON.stringify(call.function.arguments ?? {}) } };
    });
    return own;
  });
}

/** What both ways of asking say of the completion. */
function requestOf(runtime: Runtime, body: ChatRequest | GenerateRequest, messages: Message[]): UniversalRequest {
  const { sampling, loading } = optionParts(body.options ?? {});
  const { format, think } = body;
  const wanted: UniversalRequest = {
    ...sampling,
    model: body.model,
    messages,
    options: loading,
    autoTruncate: true,
    stream: body.stream !== false,
    stayMs: stayOf(body.keep_alive),
  };
  if (format === 'json') wanted.response_format = { type: 'json_object' };
  else if (typeof format === 'object' && format !== null) wanted.response_format = { type: 'json_schema', json_schema: { schema: format } };
  if (think !== undefined && think !== null) wanted.think = think !== false;
  const applied = runtime.named.applied(wanted);
  // As Ollama has it, an answer ends by itself.
  applied.max_tokens ??= UNTIL_CONTEXT_ENDS;
  return applied;
}

/** Calls are told whole: their arguments are an object. */
class Calls {
  readonly #calls: { name: string; text: string }[] = [];
  #told = 0;

  add({ index, name, arguments: more }: CompletionPart & { type: 'tool_call' }): WireCall[] {
    this.#calls[index] ??= { name: '', text: '' };
    const call = this.#calls[index];
    if (name) call.name = name;
    call.text += more ?? '';
    return this.#upTo(index);
  }

  rest(): WireCall[] {
    return this.#upTo(this.#calls.length);
  }

  #upTo(end: number): WireCall[] {
    const calls = this.#calls.slice(this.#told, end);
    this.#told = Math.max(this.#told, end);
    return calls.map(({ name, text }) => ({ function: { name, arguments: argumentsOf(text) } }));
  }
}

/** Arguments that an answer was cut in are told as far as they are text. */
function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return { arguments: text };
  }
}

/** What one answer took, in Ollama's members. */
class Clock {
  readonly #started = performance.now();
  #first: number | undefined;
  loadMs = 0;

  begun(): void {
    this.#first ??= performance.now();
  }

  durations(promptTokens: number, answerTokens: number): object {
    const now = performance.now();
    const first = this.#first ?? now;
    return {
      total_duration: nanoseconds(now - this.#started),
      load_duration: nanoseconds(this.loadMs),
      prompt_eval_count: promptTokens,
      prompt_eval_duration: nanoseconds(first - this.#started - this.loadMs),
      eval_count: answerTokens,
      eval_duration: nanoseconds(now - first),
    };
  }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;
const headOf = (model: string): { model: string; created_at: string } => ({ model, created_at: new Date().toISOString() });

/** The lines of an answer as it comes. */
async function* lines(
  model: string,
  parts: AsyncIterable<CompletionPart>,
  clock: Clock,
  write: Write,
): AsyncGenerator<string, void, undefined> {
  const calls = new Calls();
  const piece = (said: Said): string => line({ ...headOf(model), ...write(said), done: false });
  for await (const part of parts) {
    if (part.type === 'progress' || part.type === 'event') continue;
    clock.begun();
    if (part.type === 'text') yield piece({ text: part.text });
    else if (part.type === 'reasoning') yield piece({ thinking: part.text });
    else if (part.type === 'tool_call') {
      const whole = calls.add(part);
      if (whole.length > 0) yield piece({ calls: whole });
    } else {
      const rest = calls.rest();
      const { usage, reason } = part;
      const end = {
        done: true,
        done_reason: reason === 'length' ? 'length' : 'stop',
        ...clock.durations(usage.prompt_tokens, usage.completion_tokens),
      };
      yield (rest.length > 0 ? piece({ calls: rest }) : '') + line({ ...headOf(model), ...write({}), ...end });
    }
  }
}

/** The lines as one answer. */
async function whole(model: string, parts: AsyncIterable<CompletionPart>, clock: Clock, write: Write): Promise<object> {
  async function* noted(): AsyncGenerator<CompletionPart, void, undefined> {
    for await (const part of parts) {
      if (part.type !== 'progress') clock.begun();
      yield part;
    }
  }
  const { text, reasoning, toolCalls, usage, finishReason } = await collect(noted());
  const calls = toolCalls.map(({ function: { name, arguments: given } }) => ({ function: { name, arguments: argumentsOf(given) } }));
  return {
    ...headOf(model),
    ...write({ text, ...(reasoning === '' ? {} : { thinking: reasoning }), ...(calls.length > 0 ? { calls } : {}) }),
    done: true,
    done_reason: finishReason === 'length' ? 'length' : 'stop',
    ...clock.durations(usage.prompt_tokens, usage.completion_tokens),
  };
}

/** A request without a question loads its model, or unloads it where that is what `keep_alive` says. */
async function loaded(runtime: Runtime, wanted: UniversalRequest, { signal }: Request, write: Write): Promise<Reply> {
  const held = await runtime.completions.hold(wanted, signal);
  held.release();
  const reason = wanted.stayMs === 0 ? 'unload' : 'load';
  return { json: { ...headOf(wanted.model), ...write({ text: '' }), done: true, done_reason: reason } };
}

async function answer(runtime: Runtime, wanted: UniversalRequest, model: string, { signal }: Request, write: Write): Promise<Reply> {
  const clock = new Clock();
  const completion = await runtime.completions.open(wanted, signal);
  clock.loadMs = completion.loadMs ?? 0;
  if (wanted.stream) return { lines: true, events: lines(model, completion.parts, clock, write) };
  return { json: await whole(model, completion.parts, clock, write) };
}

const inMessage: Write = ({ text = '', thinking, calls }) => ({
  message: { role: 'assistant', content: text, ...(thinking === undefined ? {} : { thinking }), ...(calls ? { tool_calls: calls } : {}) },
});
const inResponse: Write = ({ text = '', thinking }) => ({ response: text, ...(thinking === undefined ? {} : { thinking }) });

function chat(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as ChatRequest;
  const wanted = requestOf(runtime, body, messagesOf(body.messages ?? []));
  if (!body.messages?.length) return loaded(runtime, { ...wanted, model: body.model }, request, inMessage);
  if (body.tools?.length) wanted.tools = body.tools;
  return answer(runtime, wanted, body.model, request, inMessage);
}

function generate(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as GenerateRequest;
  const system: Message[] = body.system ? [{ role: 'system', content: body.system }] : [];
  const messages: Message[] = [...system, { role: 'user', content: withImages(body.prompt ?? '', body.images) }];
  const wanted = requestOf(runtime, body, messages);
  if (!body.prompt && !body.images?.length) return loaded(runtime, { ...wanted, model: body.model }, request, inResponse);
  return answer(runtime, wanted, body.model, request, inResponse);
}

/** Chats and single prompts as Ollama's clients ask for them. */
export const ollamaAnswers: Endpoint<Runtime>[] = [
  ollamaEndpoint({
    method: 'POST',
    path: '/api/chat',
    id: 'ollama_chat',
    access: 'users',
    summary: 'Complete a chat, as Ollama does',
    body: 'universal/ollama#ChatRequest',
    response: 'universal/ollama#ChatResponse',
    streams: 'lines',
    bodyLimitBytes: CHAT_BODY_BYTES,
    handler: chat,
  }),
  ollamaEndpoint({
    method: 'POST',
    path: '/api/generate',
    id: 'ollama_generate',
    access: 'users',
    summary: 'Answer one prompt, as Ollama does',
    body: 'universal/ollama#GenerateRequest',
    response: 'universal/ollama#GenerateResponse',
    streams: 'lines',
    bodyLimitBytes: CHAT_BODY_BYTES,
    handler: generate,
  }),
];
