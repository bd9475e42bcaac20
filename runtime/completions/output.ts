import type { GenerateEvent } from '../engines/contracts/language.js';
import { type CompletionPart, cachedDetails, type FinishReason, type TokenLogprob } from './contract.js';
import { Closing } from './grammar/closing.js';
import { wireLogprobs } from './settings.js';
import { type SplitPiece, ThinkingSplitter } from './thinking.js';
import type { ToolCallParser } from './tools/parser.js';

/** How output text is read. */
interface OutputOptions {
  startsInThinking: boolean;
  /** True = the answer goes on behind text that the prompt has of it. */
  goesOn?: boolean;
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
    this.#splitter = new ThinkingSplitter(options.startsInThinking, options.goesOn);
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
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        ...cachedDetails(last?.counts?.reused ?? 0),
      },
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

/** Told of an answer that was closed. */
const CLOSED = 'The answer ran out of tokens and was closed with the shortest text that its form allows.';

/** A place in an answer at which it can be closed. */
interface Place {
  /** Tokens generated up to there. */
  readonly used: number;
  readonly closing: string;
}

/** What is held back: parts, and the place behind them. */
interface Held {
  readonly parts: readonly CompletionPart[];
  readonly place: Place | undefined;
}

/**
 * Makes an answer that runs out of tokens whole, by the grammar that holds it, within its tokens: near their end its parts are held back until it is known whether it ends by
 * itself, and what leaves no room to close it is dropped. An answer for whose shortest form there is no room stays cut.
 */
export class WholeAnswer {
  readonly #closing: Closing;
  readonly #maxTokens: number;
  readonly #countTokens: (texts: string[]) => Promise<number[]>;
  #hasBegun = false;
  /** The last place whose parts went out. */
  #sent: Place | undefined;
  #held: Held[] = [];

  /** `grammar` is that of the text alone, without thinking. */
  constructor(grammar: string, maxTokens: number, countTokens: (texts: string[]) => Promise<number[]>) {
    this.#closing = new Closing(grammar);
    this.#maxTokens = maxTokens;
    this.#countTokens = countTokens;
    this.#sent = this.#placeAt(0);
  }

  /** The parts of one step that may go out; `used` counts the tokens generated so far. */
  take(parts: readonly CompletionPart[], used: number): CompletionPart[] {
    for (const part of parts) if (part.type === 'text') this.#follow(part.text);
    const place = this.#placeAt(used);
    this.#held.push({ parts, place });
    // A token has at least one character, so that there is room for what is counted in characters.
    const hasRoom = place !== undefined && used + place.closing.length <= this.#maxTokens;
    if (!hasRoom && place !== undefined) return [];
    this.#sent = place;
    return this.#release(this.#held);
  }

  /** The last parts, with what was held back, and the text that closes the answer where it ran out of tokens. */
  async end(parts: readonly CompletionPart[]): Promise<CompletionPart[]> {
    const finish = parts.find((part) => part.type === 'finish');
    const place = await this.#lastPlace();
    if (finish?.reason !== 'length' || place === undefined) return [...this.#release(this.#held), ...parts];
    const { closing, used, tokens, held } = place;
    const text: CompletionPart[] = closing === '' ? [] : [{ type: 'text', text: closing }];
    const { usage } = finish;
    const completion = used + tokens;
    const counted = { ...usage, completion_tokens: completion, total_tokens: usage.prompt_tokens + completion };
    return [...this.#release(held), ...text, { ...finish, usage: counted, schemaNotes: [...(finish.schemaNotes ?? []), CLOSED] }];
  }

  #follow(text: string): void {
    // Blanks may stand before an answer that follows a thought.
    const rest = this.#hasBegun ? text : text.trimStart();
    this.#hasBegun ||= rest !== '';
    this.#closing.push(rest);
  }

  #placeAt(used: number): Place | undefined {
    const closing = this.#closing.text;
    return closing === undefined ? undefined : { used, closing };
  }

  /** The last place with room for its closing text, and what goes out before it. */
  async #lastPlace(): Promise<(Place & { tokens: number; held: Held[] }) | undefined> {
    const places = [...(this.#sent ? [this.#sent] : []), ...this.#held.flatMap(({ place }) => place ?? [])];
    if (places.length === 0 || this.#held.some(({ place }) => place === undefined)) return undefined;
    const counts = await this.#countTokens(places.map(({ closing }) => closing));
    const at = places.findLastIndex(({ used }, index) => used + counts[index]! <= this.#maxTokens);
    if (at < 0) return undefined;
    return { ...places[at]!, tokens: counts[at]!, held: this.#held.slice(0, this.#sent ? at : at + 1) };
  }

  #release(held: readonly Held[]): CompletionPart[] {
    this.#held = [];
    return held.flatMap(({ parts }) => parts);
  }
}
