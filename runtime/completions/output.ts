import type { GenerateEvent } from '../engines/contracts/language.js';
import type { CompletionPart, FinishReason, TokenLogprob } from './contract.js';
import { wireLogprobs } from './settings.js';
import { type SplitPiece, ThinkingSplitter } from './thinking.js';
import type { ToolCallParser } from './tools/parser.js';

/** How output text is read. */
interface OutputOptions {
  startsInThinking: boolean;
  /** Absent = no tools were offered, and nothing is taken for a call. */
  parser?: ToolCallParser | undefined;
  /** Alternatives per token; undefined = no logprobs. */
  topLogprobs?: number | undefined;
  promptTokens: number;
  /** True = the text is shown as it comes, tags of thinking and all. */
  plain?: boolean;
}

/** Turns the engine's events of one generation into the parts of a completion: thinking and tool calls told apart, counts kept. */
export class OutputReader {
  readonly #splitter: ThinkingSplitter;
  readonly #options: OutputOptions;
  #logprobs: TokenLogprob[] = [];
  #tokens = 0;
  #thinkingTokens = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#splitter = new ThinkingSplitter(options.startsInThinking);
  }

  /** True when the answer is complete before the engine says so. */
  get finished(): boolean {
    return this.#options.parser?.finished ?? false;
  }

  /** The parts of one event, without the finish. */
  take(event: GenerateEvent): CompletionPart[] {
    this.#tokens += event.tokens;
    if (event.logprobs && this.#options.topLogprobs !== undefined)
      this.#logprobs.push(...wireLogprobs(event.logprobs, this.#options.topLogprobs));
    if (this.#options.plain) return this.#attach(event.text === '' ? [] : [{ type: 'text', text: event.text }]);
    const wasThinking = this.#splitter.thinking;
    const parts = event.text === '' ? [] : this.#read(this.#splitter.push(event.text));
    if (wasThinking || this.#splitter.thinking || parts.some((part) => part.type === 'reasoning')) {
      this.#thinkingTokens += event.tokens;
      this.#logprobs = [];
    }
    return parts;
  }

  /** What was held back, and the finish. `last` is the engine's last event; absent when the reader finished first. */
  finish(last: GenerateEvent | undefined): CompletionPart[] {
    const { parser, promptTokens } = this.#options;
    const ending = { isCut: last?.finish === 'length', stopText: last?.stopText };
    const parts = [...this.#read(this.#splitter.end(ending)), ...this.#attach(parser?.end(ending) ?? [])];
    const completion = last?.counts?.generated ?? this.#tokens;
    const prompt = last?.counts?.prompt ?? promptTokens;
    const thinkingTokens = last?.counts?.thinking || this.#thinkingTokens;
    parts.push({
      type: 'finish',
      reason: this.#reason(last, parser),
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
      thinkingTokens,
      ...(last?.stopText === undefined ? {} : { stopText: last.stopText }),
    });
    return parts;
  }

  #reason(last: GenerateEvent | undefined, parser: ToolCallParser | undefined): FinishReason {
    // Whatever ended the answer inside a call, the call is not to be used.
    if (parser?.incomplete) return 'length';
    if (parser && parser.calls > 0) return 'tool_calls';
    return last?.finish ?? 'stop';
  }

  #read(pieces: SplitPiece[]): CompletionPart[] {
    const { parser } = this.#options;
    const parts: CompletionPart[] = [];
    for (const piece of pieces) {
      if (piece.type === 'text' && parser) parts.push(...parser.push(piece.text));
      else parts.push({ type: piece.type, text: piece.text });
    }
    return this.#attach(parts);
  }

  /** Gives the waiting logprobs to the first text part; those of tags and calls are dropped with the next call part. */
  #attach(parts: CompletionPart[]): CompletionPart[] {
    if (this.#logprobs.length === 0) return parts;
    for (const part of parts) {
      if (part.type === 'text') {
        part.logprobs = this.#logprobs;
        this.#logprobs = [];
        break;
      }
      if (part.type === 'tool_call') this.#logprobs = [];
    }
    return parts;
  }
}
