/** The tags of a thinking block, as tokens. */
export interface ThinkingTags {
  readonly start: readonly number[];
  readonly end: readonly number[];
}

/** Longest beginning of `tag` that a text ends with when `token` follows one that ended with `matched` tokens of it. */
function advanced(tag: readonly number[], matched: number, token: number): number {
  const seen = [...tag.slice(0, matched), token];
  for (let length = Math.min(tag.length, seen.length); length > 0; length -= 1) {
    if (seen.slice(-length).every((one, at) => one === tag[at])) return length;
  }
  return 0;
}

/** Counts the tokens of a thinking block, and says which token must come next once its budget is spent; the native engine counts the same way. */
export class Thinking {
  readonly #tags: ThinkingTags;
  readonly #budget: number;
  #isInside: boolean;
  #matched = 0;
  /** Tokens spent so far, without the tags. */
  count = 0;

  /** `budget` is infinite where nobody set one; `isInside`: the prompt has opened a block. */
  constructor(tags: ThinkingTags, budget: number, isInside: boolean) {
    this.#tags = tags;
    this.#budget = budget;
    this.#isInside = isInside;
  }

  /** The token that has to be next; undefined where the model may choose. */
  get forced(): number | undefined {
    return this.#isInside && this.count - this.#matched >= this.#budget ? this.#tags.end[this.#matched] : undefined;
  }

  /** Takes the token that was chosen. */
  accept(token: number): void {
    const tag = this.#isInside ? this.#tags.end : this.#tags.start;
    if (tag.length === 0) return;
    if (this.#isInside) this.count += 1;
    this.#matched = advanced(tag, this.#matched, token);
    if (this.#matched < tag.length) return;
    if (this.#isInside) this.count -= tag.length;
    this.#isInside = !this.#isInside;
    this.#matched = 0;
  }
}
