import type { CompletionPart } from './contract.js';
import { Closing } from './grammar/closing.js';

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
