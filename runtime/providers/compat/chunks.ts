import type { Usage } from '../../../schemas/generated/common.js';
import { ThinkingSplitter } from '../../completions/thinking-splitter.js';
import type { CompletionPart, ContextUsage, FinishReason, TokenLogprob } from '../contract.js';
import { CallReader } from './calls.js';

type Json = Record<string, unknown>;

function record(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

/** Content as text: a string, or parts of which the text ones count. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof record(part)?.text === 'string' ? (part as { text: string }).text : '')).join('');
}

const FINISH: Record<string, FinishReason> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function logprobsOf(value: unknown): TokenLogprob[] {
  const content = record(value)?.content;
  if (!Array.isArray(content)) return [];
  const one = (item: unknown): Omit<TokenLogprob, 'top_logprobs'> => {
    const { token, logprob, bytes } = record(item) ?? {};
    return {
      token: typeof token === 'string' ? token : '',
      logprob: typeof logprob === 'number' ? logprob : 0,
      bytes: Array.isArray(bytes) ? (bytes as number[]) : null,
    };
  };
  return content.map((item) => {
    const top = record(item)?.top_logprobs;
    return { ...one(item), top_logprobs: Array.isArray(top) ? top.map(one) : [] };
  });
}

/**
 * Turns the chunks of one answer (or the one piece of a host that does not stream) into parts. Only choice 0 is read. Reasoning comes from
 * `reasoning_content`, `reasoning` or `thinking`, else from a leading `<think>` block of the text.
 */
export class ChunkReader {
  readonly #calls = new CallReader();
  readonly #splitter = new ThinkingSplitter();
  /** The host separates reasoning itself, so tags in its text are the answer's own words. */
  #separated = false;
  #reason: FinishReason | undefined;
  #logprobs: TokenLogprob[] = [];
  #usage: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  #thinkingTokens: number | undefined;
  #model: string | undefined;
  #contextUsage: ContextUsage | undefined;
  #schemaNotes: string[] = [];
  #choices = 0;

  /** True when the host has said why the answer ends. */
  get finished(): boolean {
    return this.#reason !== undefined;
  }

  /** True when any piece of an answer has come. */
  get started(): boolean {
    return this.#choices > 0;
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
    const context = record(chunk.x_context_usage);
    if (context) this.#contextUsage = context as unknown as ContextUsage;
    if (Array.isArray(chunk.x_schema_notes)) this.#schemaNotes = chunk.x_schema_notes.filter((note) => typeof note === 'string');
    this.#count(record(chunk.usage));
    const choice = record(Array.isArray(chunk.choices) ? chunk.choices.find((item) => count(record(item)?.index) === 0) : undefined);
    if (!choice) return [];
    this.#choices++;
    const parts: CompletionPart[] = [];
    // The universal runtime's non-streaming answers hold the thoughts beside the choices.
    const thought = record(chunk.thinking)?.content;
    if (typeof thought === 'string' && thought !== '') parts.push({ type: 'reasoning', text: thought });
    const delta = record(choice.delta) ?? record(choice.message);
    if (delta) this.#delta(delta, choice.logprobs, parts);
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#reason ??= FINISH[choice.finish_reason] ?? 'stop';
    return parts;
  }

  /** What is still held back, and the finish. Counts that the host does not send are 0: an estimate would pass for a measurement. */
  end(): CompletionPart[] {
    const parts: CompletionPart[] = this.#splitter.end();
    this.#attach(parts);
    parts.push(...this.#calls.end());
    // Several hosts say `stop` although the turn ends in tool calls.
    const reason = this.#calls.any && (this.#reason ?? 'stop') === 'stop' ? 'tool_calls' : (this.#reason ?? 'stop');
    const finish: CompletionPart = { type: 'finish', reason, usage: this.#usage };
    if (this.#thinkingTokens !== undefined) finish.thinkingTokens = this.#thinkingTokens;
    if (this.#schemaNotes.length > 0) finish.schemaNotes = this.#schemaNotes;
    parts.push(finish);
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
    const called = record(delta.function_call);
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

  #count(usage: Json | undefined): void {
    if (!usage) return;
    const prompt = count(usage.prompt_tokens);
    const completion = count(usage.completion_tokens);
    this.#usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: count(usage.total_tokens) || prompt + completion };
    const thinking = record(usage.completion_tokens_details)?.reasoning_tokens;
    if (typeof thinking === 'number') this.#thinkingTokens = count(thinking);
  }
}
