/** Letters, digits and their marks together; everything else but white space stands alone. */
const WORDS = /[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]/gu;

/** Part of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The words and marks of a text, in order. */
export function wordsOf(text: string): Span[] {
  return Array.from(text.matchAll(WORDS), (match) => ({ start: match.index, end: match.index + match[0].length }));
}

/** Counts code points up to places of one text that are asked for in rising order, as Python counts characters. */
export class CodePoints {
  readonly #text: string;
  #units = 0;
  #points = 0;

  constructor(text: string) {
    this.#text = text;
  }

  at(unit: number): number {
    while (this.#units < unit) {
      this.#units += this.#text.codePointAt(this.#units)! > 0xffff ? 2 : 1;
      this.#points += 1;
    }
    return this.#points;
  }
}
