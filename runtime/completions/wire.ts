import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { Usage } from '../../schemas/generated/common.js';
import { type CollectedCompletion, type CompletionPart, type ContextUsage, cachedDetails, cachedTokens } from './contract.js';

/** What the frames and the body of one answer share. */
export interface WireOptions {
  /** `completionId()` unless the caller has one. */
  id: string;
  /** The model as the client asked for it. */
  model: string;
  /** Seconds since 1970; now when absent. */
  created?: number;
  /** Sent as `x_context_usage`. */
  contextUsage?: ContextUsage | undefined;
  /** True when the request asked for `logprobs`. */
  logprobs?: boolean | undefined;
}

/** What a stream adds. */
export interface FrameOptions extends WireOptions {
  /** `stream_options.include_usage`: a frame with no choices and the usage comes before `[DONE]`. */
  includeUsage?: boolean | undefined;
  /** Frames between the last chunk and `[DONE]` of a stream that ended well. */
  beforeDone?: (() => string) | undefined;
  /**
   * The core API's rule for streams that fail before their first part or have none: this text is sent as the only content, with
   * `finish_reason` `stop`; a later failure is swallowed. Absent = the runtime's rule: a failure becomes an `error` frame.
   */
  fallbackText?: string | undefined;
  /** With `fallbackText`: whether a failure becomes an `error` frame nevertheless. */
  tells?: (error: unknown) => boolean;
  /** Sees a failure that the stream swallows or turns into a frame. */
  onFailure?: (error: unknown) => void;
}

/** The last event of a stream. */
export const DONE = 'data: [DONE]\n\n';

/** A fresh id of a chat completion: `chatcmpl-` and 32 hex digits. */
export function completionId(): string {
  return `chatcmpl-${randomUUID().replaceAll('-', '')}`;
}

/** Seconds since 1970, as `created` has it. */
function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** The `error` member of a failed stream, as the official clients read it. Anything but a `Failure` gets a generic text. */
function errorMember(error: unknown): { message: string; type: string; param: null; code: string } {
  if (!(error instanceof Failure))
    return { message: 'The server failed while it wrote the answer.', type: 'server_error', param: null, code: 'internal' };
  return { message: error.message, type: error.status < 500 ? 'invalid_request_error' : 'server_error', param: null, code: error.code };
}

/** Turns deltas into frames; everything that is the same in each frame is serialised once. */
class FrameWriter {
  readonly #head: string;
  readonly #tail: string;
  readonly #usage: string;
  /** By choice. */
  readonly #opens: string[] = [];

  constructor(readonly options: FrameOptions) {
    this.#head = `data: {"id":${JSON.stringify(options.id)},"object":"chat.completion.chunk","created":${options.created ?? epochSeconds()},"model":${JSON.stringify(options.model)},"choices":[`;
    this.#usage = options.includeUsage ? ',"usage":null' : '';
    this.#tail = `]${this.#usage}}\n\n`;
  }

  delta(choice: number, members: string, finish = 'null', logprobs = ''): string {
    return `${this.#open(choice)}${members}},${logprobs}"finish_reason":${finish}}${this.#tail}`;
  }

  role(choice: number): string {
    return this.delta(choice, '"role":"assistant","content":""');
  }

  part(part: CompletionPart): string {
    const { choice = 0 } = part;
    switch (part.type) {
      case 'text': {
        const logprobs = part.logprobs ? `"logprobs":${JSON.stringify({ content: part.logprobs })},` : '';
        return this.delta(choice, `"content":${JSON.stringify(part.text)}`, 'null', logprobs);
      }
      case 'reasoning':
        return this.delta(choice, `"reasoning_content":${JSON.stringify(part.text)}`);
      case 'tool_call':
        return this.delta(choice, `"tool_calls":[${toolCallDelta(part)}]`);
      case 'progress':
        // A comment: clients read over it, and proxies see that the stream lives.
        return `: prompt ${part.read}/${part.of}\n\n`;
      case 'event':
        // A chunk with an empty delta: clients that do not know it read over it.
        return `event: ${part.name}\n${this.#head}{"index":0,"delta":{},"finish_reason":null}],"${part.name}":${JSON.stringify(part.data)}${this.#usage}}\n\n`;
      case 'finish':
        return this.#finish(part);
    }
  }

  #finish(part: CompletionPart & { type: 'finish' }): string {
    const { contextUsage } = this.options;
    const usage = contextUsage ? `,"x_context_usage":${JSON.stringify(contextUsage)}` : '';
    const notes = part.schemaNotes ? `,"x_schema_notes":${JSON.stringify(part.schemaNotes)}` : '';
    const beside = Object.entries(part.beside ?? {}).map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return `${this.#open(part.choice ?? 0)}},"finish_reason":"${part.reason}"}]${usage}${notes}${beside.join('')}${this.#usage}}\n\n`;
  }

  /** The frame of the counts, where the request asked for it and there are any. */
  usage(ends: readonly Counts[]): string {
    return this.options.includeUsage && ends.length > 0 ? `${this.#head}],"usage":${JSON.stringify(usageOf(ends))}}\n\n` : '';
  }

  #open(choice: number): string {
    this.#opens[choice] ??= `${this.#head}{"index":${choice},"delta":{`;
    return this.#opens[choice];
  }
}

/** What a choice counts at its end. */
type Counts = Pick<CollectedCompletion, 'usage' | 'thinkingTokens'>;

/** The counts of all the choices, whose prompt is one, with those of the thinking where there was any. */
function usageOf(ends: readonly Counts[]): Usage {
  const sum = (of: (end: Counts) => number): number => ends.reduce((total, end) => total + of(end), 0);
  const prompt = Math.max(...ends.map(({ usage }) => usage.prompt_tokens));
  // What one choice takes from another was not read before the request.
  const cached = Math.min(...ends.map(({ usage }) => cachedTokens(usage)));
  const thinking = sum(({ usage, thinkingTokens }) => thinkingTokens ?? usage.completion_tokens_details?.reasoning_tokens ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: sum(({ usage }) => usage.completion_tokens),
    total_tokens: prompt + sum(({ usage }) => usage.total_tokens - usage.prompt_tokens),
    ...cachedDetails(cached),
    ...(thinking > 0 ? { completion_tokens_details: { reasoning_tokens: thinking } } : {}),
  };
}

function toolCallDelta(part: CompletionPart & { type: 'tool_call' }): string {
  const args = JSON.stringify(part.arguments ?? '');
  if (part.name === undefined) return `{"index":${part.index},"function":{"arguments":${args}}}`;
  return `{"index":${part.index},"id":${JSON.stringify(part.id ?? `call_${randomUUID()}`)},"type":"function","function":{"name":${JSON.stringify(part.name)},"arguments":${args}}}`;
}

/**
 * A completion as the text of chat-completion chunk frames: for each choice the role, then one frame per part (a comment where it is progress), then
 * its finish; then `[DONE]`, which also ends a stream that failed. Never throws; leaving the loop early ends `parts`.
 */
export async function* chunkFrames(parts: AsyncIterable<CompletionPart>, options: FrameOptions): AsyncGenerator<string, void, undefined> {
  const frames = new FrameWriter(options);
  const started = new Set<number>();
  const ends: Counts[] = [];
  try {
    for await (const part of parts) {
      const frame = frames.part(part);
      if (part.type === 'progress' || part.type === 'event') {
        yield frame;
        continue;
      }
      const { choice = 0 } = part;
      if (part.type === 'finish') ends.push(part);
      yield started.has(choice) ? frame : frames.role(choice) + frame;
      started.add(choice);
    }
  } catch (error) {
    options.onFailure?.(error);
    if (options.fallbackText === undefined || options.tells?.(error)) {
      yield `${started.size > 0 ? '' : frames.role(0)}data: ${JSON.stringify({ error: errorMember(error) })}\n\n${DONE}`;
      return;
    }
  }
  if (started.size === 0 && options.fallbackText !== undefined)
    yield frames.role(0) + frames.part({ type: 'text', text: options.fallbackText }) + frames.delta(0, '', '"stop"');
  yield frames.usage(ends) + (options.beforeDone?.() ?? '') + DONE;
}

/** A collected completion, by choice, as the body of a non-streaming answer. What was thought and noted stands beside the choices where there is one only. */
export function responseBody(completions: readonly CollectedCompletion[], options: WireOptions): Record<string, unknown> {
  const several = completions.length > 1;
  const choices = completions.map((completion, index) => ({
    ...choiceOf(completion, index, options.logprobs),
    ...(several ? besideOf(completion) : {}),
  }));
  return {
    id: options.id,
    object: 'chat.completion',
    created: options.created ?? epochSeconds(),
    model: options.model,
    choices,
    usage: usageOf(completions),
    ...(several ? {} : besideOf(completions[0]!)),
    ...(options.contextUsage ? { x_context_usage: options.contextUsage } : {}),
  };
}

function choiceOf({ text, toolCalls, logprobs, finishReason }: CollectedCompletion, index: number, wantsLogprobs = false): object {
  const called = toolCalls.length > 0;
  const message = { role: 'assistant', content: called && text.trim() === '' ? null : text, ...(called ? { tool_calls: toolCalls } : {}) };
  return { index, message, finish_reason: finishReason, ...(wantsLogprobs ? { logprobs: { content: logprobs } } : {}) };
}

/** What an answer has beside its message, in members that only this server writes. */
function besideOf({ reasoning, thinkingTokens, schemaNotes, beside }: CollectedCompletion): object {
  const thinking = reasoning === '' ? {} : { thinking: { content: reasoning, tokens: thinkingTokens ?? null } };
  return { ...thinking, ...(schemaNotes ? { x_schema_notes: schemaNotes } : {}), ...beside };
}
