import type { EmbeddedChunk } from '../../contract.js';

/** Rows that are held, and the longest text of one in characters: 32 MB at most, 4 MB as a rule. */
const MOST_ROWS = 1_024;
const LONGEST_TEXT = 2 ** 14;

/** The rows that were added last, until they are taken: what follows the tables closely need not read and decode them again. */
export class RecentRows {
  readonly #chunks = new Map<number, EmbeddedChunk>();

  /** Adds rows that are stored, from `first` on. */
  put(first: number, chunks: readonly EmbeddedChunk[]): void {
    for (const [at, chunk] of chunks.entries()) if (chunk.text.length <= LONGEST_TEXT) this.#chunks.set(first + at, chunk);
    for (const row of this.#chunks.keys()) {
      if (this.#chunks.size <= MOST_ROWS) break;
      this.#chunks.delete(row);
    }
  }

  /** The chunk of a row, once. */
  take(row: number): EmbeddedChunk | undefined {
    const chunk = this.#chunks.get(row);
    this.#chunks.delete(row);
    return chunk;
  }

  /** Forgets all. */
  clear(): void {
    this.#chunks.clear();
  }
}
