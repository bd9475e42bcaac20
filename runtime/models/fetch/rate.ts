/** The rate is that of this long a time. */
const WINDOW_MS = 5000;

/** How fast bytes come now, and how long the rest will take. */
export class Rate {
  readonly #marks: { at: number; bytes: number }[] = [];

  /** Notes how many bytes there are at `at` (milliseconds of any clock that does not jump); fewer than before begin anew. */
  mark(bytes: number, at: number): void {
    if (bytes < (this.#marks.at(-1)?.bytes ?? 0)) this.#marks.length = 0;
    this.#marks.push({ at, bytes });
    while (this.#marks.length > 2 && this.#marks[1]!.at <= at - WINDOW_MS) this.#marks.shift();
  }

  get bytesPerSecond(): number {
    const [first, last] = [this.#marks[0], this.#marks.at(-1)];
    if (!first || !last || last.at === first.at) return 0;
    return Math.round(((last.bytes - first.bytes) / (last.at - first.at)) * 1000);
  }

  /** Whole seconds for so many more bytes; null while nothing comes. */
  secondsFor(bytes: number): number | null {
    const rate = this.bytesPerSecond;
    return rate > 0 ? Math.ceil(bytes / rate) : null;
  }
}
