import { UNTIL_CONTEXT_ENDS } from '../../runtime/completions/budget.js';
import { collect, ToolCallGatherer } from '../../runtime/completions/collect.js';
import type { CollectedToolCall, CompletionPart, TokenLogprob } from '../../runtime/completions/contract.js';
import { jinjaOf } from '../../runtime/completions/modelfiles/go-template.js';
import { optionParts } from '../../runtime/completions/modelfiles/modelfile.js';
import type { UniversalRequest } from '../../runtime/completions/request.js';
import { refuseAdapters } from '../../runtime/completions/settings.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Reply, Request } from '../../schemas/endpoint.js';
import type { Message } from '../../schemas/generated/common.js';
import type { ChatRequest, GenerateRequest, Message as OllamaMessage } from '../../schemas/generated/universal/ollama.js';
import { CHAT_BODY_BYTES } from '../http/body.js';
import { nanoseconds, ollamaEndpoint, stayOf, unload } from './ollama-endpoint.js';

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

/** What the two ways of asking differ in. */
interface Way {
  /** A piece of an answer. */
  readonly write: (said: Said) => object;
  /** Further members of the end, by the whole text of the answer; asked for while the model is still in use. */
  readonly end?: (text: string) => Promise<object>;
}

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
  refuseAdapters(body, body.options);
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
  if (body.logprobs) Object.assign(wanted, { logprobs: true, top_logprobs: body.top_logprobs ?? 0 });
  if (think !== undefined && think !== null) wanted.think = think !== false;
  const applied = runtime.named.applySettings(wanted);
  // As Ollama has it, an answer ends by itself.
  applied.max_tokens ??= UNTIL_CONTEXT_ENDS;
  return applied;
}

/** A whole call as Ollama has it: its arguments are an object. */
const wireCall = ({ function: { name, arguments: json } }: CollectedToolCall): WireCall => ({
  function: { name, arguments: argumentsOf(json) },
});

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

/** The probabilities of the tokens of a text, where they were asked for. */
const withLogprobs = (logprobs: readonly TokenLogprob[] | undefined): object => (logprobs?.length ? { logprobs } : {});

const line = (value: object): string => `${JSON.stringify(value)}\n`;
const headOf = (model: string): { model: string; created_at: string } => ({ model, created_at: new Date().toISOString() });

/** The lines of an answer as it comes. */
async function* answerLines(
  model: string,
  parts: AsyncIterable<CompletionPart>,
  clock: Clock,
  { write, end: endOf }: Way,
): AsyncGenerator<string, void, undefined> {
  const calls = new ToolCallGatherer();
  let text = '';
  const piece = (said: Said, logprobs?: readonly TokenLogprob[]): string =>
    line({ ...headOf(model), ...write(said), done: false, ...withLogprobs(logprobs) });
  for await (const part of parts) {
    if (part.type === 'progress' || part.type === 'event') continue;
    clock.begun();
    if (part.type === 'text') {
      text += part.text;
      yield piece({ text: part.text }, part.logprobs);
    } else if (part.type === 'reasoning') yield piece({ thinking: part.text });
    else if (part.type === 'tool_call') {
      const whole = calls.add(part);
      if (whole.length > 0) yield piece({ calls: whole.map(wireCall) });
    } else {
      const rest = calls.end().map(wireCall);
      const { usage, reason } = part;
      const times = clock.durations(usage.prompt_tokens, usage.completion_tokens);
      const end = { done: true, done_reason: reason === 'length' ? 'length' : 'stop', ...(await endOf?.(text)), ...times };
      yield (rest.length > 0 ? piece({ calls: rest }) : '') + line({ ...headOf(model), ...write({}), ...end });
    }
  }
}

/** The lines as one answer. */
async function wholeAnswer(model: string, parts: AsyncIterable<CompletionPart>, clock: Clock, { write, end: endOf }: Way): Promise<object> {
  let said = '';
  let end: object | undefined;
  async function* noted(): AsyncGenerator<CompletionPart, void, undefined> {
    for await (const part of parts) {
      if (part.type !== 'progress') clock.begun();
      if (part.type === 'text') said += part.text;
      // Once the parts have ended, a model that is not to stay is gone, and the end would load it anew.
      if (part.type === 'finish') end = await endOf?.(said);
      yield part;
    }
  }
  const { text, reasoning, toolCalls, logprobs, usage, finishReason } = await collect(noted());
  const calls = toolCalls.map(wireCall);
  const times = clock.durations(usage.prompt_tokens, usage.completion_tokens);
  return {
    ...headOf(model),
    ...write({ text, ...(reasoning === '' ? {} : { thinking: reasoning }), ...(calls.length > 0 ? { calls } : {}) }),
    done: true,
    done_reason: finishReason === 'length' ? 'length' : 'stop',
    ...end,
    ...times,
    ...withLogprobs(logprobs),
  };
}

/** A request without a question loads its model, or unloads it with all its settings where that is what `keep_alive` says. */
async function loadOrUnload(runtime: Runtime, wanted: UniversalRequest, { signal }: Request, { write }: Way): Promise<Reply> {
  const reason = wanted.stayMs === 0 ? 'unload' : 'load';
  if (reason === 'load') (await runtime.completions.hold(wanted, signal)).release();
  else await unload(runtime, wanted.model);
  return { json: { ...headOf(wanted.model), ...write({ text: '' }), done: true, done_reason: reason } };
}

async function answer(runtime: Runtime, wanted: UniversalRequest, model: string, { signal }: Request, way: Way): Promise<Reply> {
  const clock = new Clock();
  const completion = await runtime.completions.open(wanted, signal);
  clock.loadMs = completion.loadMs ?? 0;
  if (wanted.stream) return { lines: true, events: answerLines(model, completion.parts, clock, way) };
  return { json: await wholeAnswer(model, completion.parts, clock, way) };
}

const IN_MESSAGE: Way = {
  write: ({ text = '', thinking, calls }) => ({
    message: { role: 'assistant', content: text, ...(thinking === undefined ? {} : { thinking }), ...(calls ? { tool_calls: calls } : {}) },
  }),
};
const IN_RESPONSE: Way = { write: ({ text = '', thinking }) => ({ response: text, ...(thinking === undefined ? {} : { thinking }) }) };

function chat(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as ChatRequest;
  const wanted = requestOf(runtime, body, messagesOf(body.messages ?? []));
  if (!body.messages?.length) return loadOrUnload(runtime, { ...wanted, model: body.model }, request, IN_MESSAGE);
  if (body.tools?.length) wanted.tools = body.tools;
  // As Ollama has it, a last message of the assistant is the beginning of the answer.
  wanted.continue_final_message = true;
  return answer(runtime, wanted, body.model, request, IN_MESSAGE);
}

/** Tokens one after the other. */
function concatTokens(first: Int32Array, second: Int32Array): Int32Array {
  const all = new Int32Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** The tokens of a prompt that goes on from the context of an answer before; the model's beginning token stands there already. */
async function continueContext(runtime: Runtime, wanted: UniversalRequest, context: Int32Array, signal: AbortSignal): Promise<Int32Array> {
  const begin = await runtime.completions.render({ ...wanted, messages: [], raw: { content: '' } }, signal);
  const { tokens } = await runtime.completions.render(wanted, signal);
  const isBegun = begin.tokens.length > 0 && begin.tokens.every((token, index) => tokens[index] === token);
  return concatTokens(context, isBegun ? tokens.subarray(begin.tokens.length) : tokens);
}

/** The member `context` of an answer: the tokens of its prompt and of what was said. */
async function contextAfter(runtime: Runtime, wanted: UniversalRequest, text: string, signal: AbortSignal): Promise<object> {
  const prompt = await runtime.completions.render(wanted, signal);
  const said = await runtime.completions.render({ ...wanted, messages: [], raw: { content: text, framed: false, plain: true } }, signal);
  return { context: Array.from(concatTokens(prompt.tokens, said.tokens)) };
}

async function generate(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as GenerateRequest;
  const { signal } = request;
  const prompt = body.prompt ?? '';
  const system: Message[] = body.system ? [{ role: 'system', content: body.system }] : [];
  const wanted = requestOf(runtime, body, [...system, { role: 'user', content: withImages(prompt, body.images) }]);
  if (body.template) wanted.chat_template = jinjaOf(body.template);
  if (prompt === '' && !body.images?.length && !body.suffix)
    return loadOrUnload(runtime, { ...wanted, model: body.model }, request, IN_RESPONSE);
  if (body.raw || body.suffix) {
    const raw = { content: prompt, ...(body.suffix ? { suffix: body.suffix } : {}) };
    return answer(runtime, { ...wanted, messages: [], raw }, body.model, request, IN_RESPONSE);
  }
  const context = body.context?.length ? await continueContext(runtime, wanted, Int32Array.from(body.context), signal) : undefined;
  const asked = context ? { ...wanted, messages: [], raw: { content: context } } : wanted;
  return answer(runtime, asked, body.model, request, { ...IN_RESPONSE, end: (text) => contextAfter(runtime, asked, text, signal) });
}

/** Chats and single prompts as Ollama's clients ask for them. */
export const ollamaChat: Endpoint<Runtime>[] = [
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
