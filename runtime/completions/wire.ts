import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { Usage } from '../../schemas/generated/common.js';
import type { CollectedCompletion, CompletionPart, ContextUsage } from './contract.js';

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

const DONE = 'data: [DONE]\n\n';

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
  readonly #open: string;

  constructor(readonly options: FrameOptions) {
    this.#head = `data: {"id":${JSON.stringify(options.id)},"object":"chat.completion.chunk","created":${options.created ?? epochSeconds()},"model":${JSON.stringify(options.model)},"choices":[`;
    this.#open = `${this.#head}{"index":0,"delta":{`;
    this.#tail = `]${options.includeUsage ? ',"usage":null' : ''}}\n\n`;
  }

  delta(members: string, finish = 'null', logprobs = ''): string {
    return `${this.#open}${members}},${logprobs}"finish_reason":${finish}}${this.#tail}`;
  }

  role(): string {
    return this.delta('"role":"assistant","content":""');
  }

  text(text: string): string {
    return this.delta(`"content":${JSON.stringify(text)}`);
  }

  part(part: CompletionPart): string {
    switch (part.type) {
      case 'text':
        if (!part.logprobs) return this.text(part.text);
        return this.delta(`"content":${JSON.stringify(part.text)}`, 'null', `"logprobs":${JSON.stringify({ content: part.logprobs })},`);
      case 'reasoning':
        return this.delta(`"reasoning_content":${JSON.stringify(part.text)}`);
      case 'tool_call':
        return this.delta(`"tool_calls":[${toolCallDelta(part)}]`);
      case 'progress':
        // A comment: clients read over it, and proxies see that the stream lives.
        return `: prompt ${part.read}/${part.of}\n\n`;
      case 'finish':
        return this.#finish(part);
    }
  }

  #finish(part: CompletionPart & { type: 'finish' }): string {
    const { contextUsage, includeUsage } = this.options;
    const usage = contextUsage ? `,"x_context_usage":${JSON.stringify(contextUsage)}` : '';
    const notes = part.schemaNotes ? `,"x_schema_notes":${JSON.stringify(part.schemaNotes)}` : '';
    const last = `${this.#open}},"finish_reason":"${part.reason}"}]${usage}${notes}${includeUsage ? ',"usage":null' : ''}}\n\n`;
    return includeUsage ? `${last}${this.#head}],"usage":${JSON.stringify(wireUsage(part.usage, part.thinkingTokens))}}\n\n` : last;
  }
}

/** The counts, with those of the thinking where there was any. */
function wireUsage(usage: Usage, thinkingTokens: number | undefined): Usage {
  return thinkingTokens ? { ...usage, completion_tokens_details: { reasoning_tokens: thinkingTokens } } : usage;
}

function toolCallDelta(part: CompletionPart & { type: 'tool_call' }): string {
  const args = JSON.stringify(part.arguments ?? '');
  if (part.name === undefined) return `{"index":${part.index},"function":{"arguments":${args}}}`;
  return `{"index":${part.index},"id":${JSON.stringify(part.id ?? `call_${randomUUID()}`)},"type":"function","function":{"name":${JSON.stringify(part.name)},"arguments":${args}}}`;
}

/**
 * A completion as the text of chat-completion chunk frames: the role, then one frame per part (a comment where it is progress), then the finish, then `[DONE]`, which also
 * ends a stream that failed. Never throws; leaving the loop early ends `parts`.
 */
export async function* chunkFrames(parts: AsyncIterable<CompletionPart>, options: FrameOptions): AsyncGenerator<string, void, undefined> {
  const frames = new FrameWriter(options);
  let started = false;
  try {
    for await (const part of parts) {
      const frame = frames.part(part);
      if (part.type === 'progress') {
        yield frame;
        continue;
      }
      yield started ? frame : frames.role() + frame;
      started = true;
    }
  } catch (error) {
    options.onFailure?.(error);
    if (options.fallbackText === undefined || options.tells?.(error)) {
      yield `${started ? '' : frames.role()}data: ${JSON.stringify({ error: errorMember(error) })}\n\n${DONE}`;
      return;
    }
  }
  if (!started && options.fallbackText !== undefined) yield frames.role() + frames.text(options.fallbackText) + frames.delta('', '"stop"');
  yield (options.beforeDone?.() ?? '') + DONE;
}

/** A collected completion as the body of a non-streaming answer. */
export function responseBody(completion: CollectedCompletion, options: WireOptions): Record<string, unknown> {
  const { text, reasoning, toolCalls, logprobs, finishReason, usage, thinkingTokens } = completion;
  const called = toolCalls.length > 0;
  const message: Record<string, unknown> = { role: 'assistant', content: called && text.trim() === '' ? null : text };
  if (called) message.tool_calls = toolCalls;
  const choice: Record<string, unknown> = { index: 0, message, finish_reason: finishReason };
  if (options.logprobs) choice.logprobs = { content: logprobs };
  const body: Record<string, unknown> = {
    id: options.id,
    object: 'chat.completion',
    created: options.created ?? epochSeconds(),
    model: options.model,
    choices: [choice],
    usage: wireUsage(usage, thinkingTokens),
  };
  if (reasoning !== '') body.thinking = { content: reasoning, tokens: thinkingTokens ?? null };
  if (options.contextUsage) body.x_context_usage = options.contextUsage;
  if (completion.schemaNotes) body.x_schema_notes = completion.schemaNotes;
  return body;
}
