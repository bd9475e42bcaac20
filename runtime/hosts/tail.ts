/** Keeps the end of a stream's text: at most `limit` characters. */
export class Tail {
  #text = '';
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    this.#text = (this.#text + text).slice(-this.#limit);
  }

  /** The last lines that are not empty, joined to one line; empty when nothing was written. */
  lastLines(count: number): string {
    return this.#text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-count)
      .join(' / ');
  }
}
