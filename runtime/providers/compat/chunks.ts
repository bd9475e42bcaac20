import { randomUUID } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import type { Usage } from '../../../schemas/generated/common.js';
import { isObject } from '../../base/json.js';
import { type CompletionPart, type ContextUsage, cachedDetails, type FinishReason, type TokenLogprob } from '../../completions/contract.js';
import { ThinkingSplitter } from '../../completions/thinking.js';

const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

type Json = Record<string, unknown>;

/**
 * Turns the chunks of one answer (or the one piece of a host that does not stream) into parts. Of the choices those that were asked for are read.
 * Reasoning comes from `reasoning_content`, `reasoning` or `thinking`, else from a leading `<think>` block of the text.
 */
export class ChunkReader {
  readonly #choices: ChoiceReader[] = [];
  #usage: Usage = NO_USAGE;
  #thinkingTokens: number | undefined;
  #model: string | undefined;
  #contextUsage: ContextUsage | undefined;

  /** `asked` = how many choices were asked for; a host may send fewer. */
  constructor(readonly asked = 1) {}

  /** True when the host has said why each choice ends that was asked for. */
  get finished(): boolean {
    return this.#choices.length === this.asked && this.whole;
  }

  /** True when each choice that began has ended. */
  get whole(): boolean {
    return this.started && !this.#choices.some((choice) => !choice.finished);
  }

  /** True when any piece of an answer has come. */
  get started(): boolean {
    return this.#choices.length > 0;
  }

  /** The model as the host names it. */
  get model(): string | undefined {
    return this.#model;
  }

  /** `x_context_usage`, which our own runtime sends. */
  get contextUsage(): ContextUsage | undefined {
    return this.#contextUsage;
  }

  /** Reads one chunk. */
  read(chunk: Json): CompletionPart[] {
    if (typeof chunk.model === 'string' && chunk.model !== '') this.#model ??= chunk.model;
    const context = asObject(chunk.x_context_usage);
    if (context) this.#contextUsage = context as unknown as ContextUsage;
    this.#count(asObject(chunk.usage));
    const choices = Array.isArray(chunk.choices) ? chunk.choices.map(asObject).filter((item) => item !== undefined) : [];
    // Some hosts do not number them.
    return choices.flatMap((choice, place) => this.#read(chunk, choice, typeof choice.index === 'number' ? count(choice.index) : place));
  }

  /** What is still held back, and the finishes. Counts that the host does not send are 0: an estimate would pass for a measurement. */
  end(): CompletionPart[] {
    const thinking = this.#thinkingTokens;
    if (this.#choices.length === 1) {
      return this.#choices[0]!.end({ usage: this.#usage, ...(thinking === undefined ? {} : { thinkingTokens: thinking }) });
    }
    // A host counts all its choices together.
    const usage = { ...this.#usage, ...(thinking === undefined ? {} : { completion_tokens_details: { reasoning_tokens: thinking } }) };
    return this.#choices.flatMap((reader, index) => ofChoice(index, reader.end({ usage: index === 0 ? usage : NO_USAGE })));
  }

  #read(chunk: Json, choice: Json, index: number): CompletionPart[] {
    if (index >= this.asked) return [];
    while (this.#choices.length <= index) this.#choices.push(new ChoiceReader());
    const reader = this.#choices[index]!;
    reader.note(chunk.x_schema_notes);
    // The universal runtime's non-streaming answers hold the thoughts beside the choices.
    const thought = asObject(chunk.thinking)?.content;
    const parts = reader.read(choice);
    if (typeof thought === 'string' && thought !== '') parts.unshift({ type: 'reasoning', text: thought });
    return ofChoice(index, parts);
  }

  #count(usage: Json | undefined): void {
    if (!usage) return;
    const prompt = count(usage.prompt_tokens);
    const completion = count(usage.completion_tokens);
    this.#usage = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: count(usage.total_tokens) || prompt + completion,
      ...cachedDetails(count(asObject(usage.prompt_tokens_details)?.cached_tokens)),
    };
    const thinking = asObject(usage.completion_tokens_details)?.reasoning_tokens;
    if (typeof thinking === 'number') this.#thinkingTokens = count(thinking);
  }
}

const FINISH: Record<string, FinishReason> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

/** Puts together one choice of an answer. */
class ChoiceReader {
  readonly #calls = new CallReader();
  readonly #splitter = new ThinkingSplitter();
  /** The host separates reasoning itself, so tags in its text are the answer's own words. */
  #separated = false;
  #reason: FinishReason | undefined;
  #logprobs: TokenLogprob[] = [];
  #schemaNotes: string[] = [];

  /** True when the host has said why the choice ends. */
  get finished(): boolean {
    return this.#reason !== undefined;
  }

  read(choice: Json): CompletionPart[] {
    const parts: CompletionPart[] = [];
    const delta = asObject(choice.delta) ?? asObject(choice.message);
    if (delta) this.#delta(delta, choice.logprobs, parts);
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#reason ??= FINISH[choice.finish_reason] ?? 'stop';
    return parts;
  }

  /** Keeps what our own runtime says of the schema, in any chunk of the choice. */
  note(notes: unknown): void {
    if (Array.isArray(notes)) this.#schemaNotes = notes.filter((note) => typeof note === 'string');
  }

  /** What is still held back, and the finish. */
  end(counts: { usage: Usage; thinkingTokens?: number }): CompletionPart[] {
    const parts: CompletionPart[] = this.#splitter.end();
    this.#attach(parts);
    parts.push(...this.#calls.end());
    // Several hosts say `stop` although the turn ends in tool calls.
    const reason = this.#calls.any && (this.#reason ?? 'stop') === 'stop' ? 'tool_calls' : (this.#reason ?? 'stop');
    const notes = this.#schemaNotes.length > 0 ? { schemaNotes: this.#schemaNotes } : {};
    parts.push({ type: 'finish', reason, ...counts, ...notes });
    return parts;
  }

  #delta(delta: Json, logprobs: unknown, parts: CompletionPart[]): void {
    const thought = [delta.reasoning_content, delta.reasoning, delta.thinking].find((value) => typeof value === 'string' && value !== '');
    if (typeof thought === 'string') {
      this.#separated = true;
      parts.push({ type: 'reasoning', text: thought });
    }
    const text = contentText(delta.content) || (typeof delta.refusal === 'string' ? delta.refusal : '');
    this.#logprobs.push(...logprobsOf(logprobs));
    const spoken = this.#spoken(text);
    this.#attach(spoken);
    parts.push(...spoken);
    const called = asObject(delta.function_call);
    const calls = called ? [{ index: 0, function: called }] : delta.tool_calls;
    parts.push(...this.#calls.read(calls));
  }

  #spoken(text: string): CompletionPart[] {
    if (!this.#separated) return this.#splitter.push(text);
    return text === '' ? [] : [{ type: 'text', text }];
  }

  /** Logprobs go with the text they belong to; those of separated reasoning are dropped with its tags. */
  #attach(parts: CompletionPart[]): void {
    if (this.#logprobs.length === 0) return;
    const text = parts.find((part) => part.type === 'text');
    if (text) text.logprobs = this.#logprobs;
    if (parts.length > 0) this.#logprobs = [];
  }
}

interface Call {
  index: number;
  /** The host's id, to recognise further pieces; ours may differ when it sends none. */
  id: string | undefined;
  named: boolean;
  /** Pieces that came before the name. */
  waiting: string;
  hasArguments: boolean;
}

type ToolPart = CompletionPart & { type: 'tool_call' };

/** Most tool calls of one answer. */
const MAX_TOOL_CALLS = 128;

/**
 * Puts tool-call pieces in order. Hosts differ: pieces without an index or id, whole calls at once, arguments as an object, the same index
 * for each of several whole calls, the id repeated in every piece. Out of it come parts with our own ascending index.
 */
class CallReader {
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();

  /** True when the answer calls a tool. */
  get any(): boolean {
    return this.#calls.some((call) => call.named);
  }

  /** Reads the `tool_calls` of one delta or message. */
  read(deltas: unknown): ToolPart[] {
    return Array.isArray(deltas) ? deltas.flatMap((delta) => this.#piece(asObject(delta) ?? {})) : [];
  }

  /** Calls without arguments get `{}`, which is what a client's JSON parser needs. */
  end(): ToolPart[] {
    return this.#calls
      .filter((call) => call.named && !call.hasArguments)
      .map((call) => ({ type: 'tool_call', index: call.index, arguments: '{}' }));
  }

  #piece(delta: Record<string, unknown>): ToolPart[] {
    const fn = asObject(delta.function) ?? {};
    const name = typeof fn.name === 'string' && fn.name !== '' ? fn.name : undefined;
    const id = typeof delta.id === 'string' && delta.id !== '' ? delta.id : undefined;
    const call = this.#callOf(typeof delta.index === 'number' ? delta.index : undefined, id, name);
    const piece = argumentsText(fn.arguments);
    if (piece !== '') call.hasArguments = true;
    if (call.named) return piece === '' ? [] : [{ type: 'tool_call', index: call.index, arguments: piece }];
    call.waiting += piece;
    if (name === undefined) return [];
    call.named = true;
    const first: ToolPart = { type: 'tool_call', index: call.index, id: call.id ?? `call_${randomUUID().replaceAll('-', '')}`, name };
    if (call.waiting !== '') first.arguments = call.waiting;
    return [first];
  }

  #callOf(index: number | undefined, id: string | undefined, name: string | undefined): Call {
    const last = this.#calls.at(-1);
    const known = index === undefined ? this.#calls.find((call) => id !== undefined && call.id === id) : this.#byIndex.get(index);
    const another = known?.named && name !== undefined && id !== undefined && known.id !== id;
    let call = known && !another ? known : undefined;
    // Neither index, id nor name: it continues what came last.
    if (!call && index === undefined && name === undefined) call = last;
    call ??= this.#add(id);
    call.id ??= id;
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #add(id: string | undefined): Call {
    if (this.#calls.length >= MAX_TOOL_CALLS)
      throw new Failure('model_failed', `The model called more than ${MAX_TOOL_CALLS} tools in one answer, which is the limit.`);
    const call: Call = { index: this.#calls.length, id, named: false, waiting: '', hasArguments: false };
    this.#calls.push(call);
    return call;
  }
}

function asObject(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Content as text: a string, or parts of which the text ones count. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof asObject(part)?.text === 'string' ? (part as { text: string }).text : '')).join('');
}

function logprobsOf(value: unknown): TokenLogprob[] {
  const content = asObject(value)?.content;
  if (!Array.isArray(content)) return [];
  const one = (item: unknown): Omit<TokenLogprob, 'top_logprobs'> => {
    const { token, logprob, bytes } = asObject(item) ?? {};
    return {
      token: typeof token === 'string' ? token : '',
      logprob: typeof logprob === 'number' ? logprob : 0,
      bytes: Array.isArray(bytes) ? (bytes as number[]) : null,
    };
  };
  return content.map((item) => {
    const top = asObject(item)?.top_logprobs;
    return { ...one(item), top_logprobs: Array.isArray(top) ? top.map(one) : [] };
  });
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function ofChoice(choice: number, parts: CompletionPart[]): CompletionPart[] {
  return choice === 0 ? parts : parts.map((part) => ({ ...part, choice }));
}
