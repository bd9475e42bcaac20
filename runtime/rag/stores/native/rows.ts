import { breathe, turn } from '../../../base/loop.js';
import type { Batch, ChunkRecord, RowRange, Store } from '../../../store/store.js';
import type { EmbeddedChunk } from '../../contract.js';
import { ROWS_PER_TURN } from './pacing.js';

/** Ranges with further rows at their end, the last one prolonged where that is possible. */
export function withRows(ranges: readonly RowRange[], first: number, count: number): RowRange[] {
  if (count === 0) return [...ranges];
  const last = ranges.at(-1);
  if (last !== undefined && last[0] + last[1] === first) return [...ranges.slice(0, -1), [last[0], last[1] + count]];
  return [...ranges, [first, count]];
}

/** Ranges without one row. */
export function withoutRow(ranges: readonly RowRange[], row: number): RowRange[] {
  return ranges.flatMap(([first, count]): RowRange[] => {
    if (row < first || row >= first + count) return [[first, count]];
    const parts: RowRange[] = [
      [first, row - first],
      [row + 1, first + count - row - 1],
    ];
    return parts.filter((part) => part[1] > 0);
  });
}

/** How many rows the ranges have. */
export function rowCount(ranges: readonly RowRange[]): number {
  return ranges.reduce((sum, [, count]) => sum + count, 0);
}

/** Components as they lie in the table. */
function vectorBytes(vector: Float32Array): Uint8Array {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** The components of stored bytes, copied, because those may lie at any address. */
export function vectorOf(bytes: Uint8Array): Float32Array {
  const vector = new Float32Array(bytes.length / Float32Array.BYTES_PER_ELEMENT);
  new Uint8Array(vector.buffer).set(bytes);
  return vector;
}

/** What a chunk counts for in the size of its document. */
export function chunkBytes(text: string, dimensions: number): number {
  return Buffer.byteLength(text) + dimensions * Float32Array.BYTES_PER_ELEMENT;
}

/** Adds the records of chunks to a write, at rows from `first` on. */
export async function putRows(batch: Batch, collection: number, first: number, chunks: readonly EmbeddedChunk[]): Promise<void> {
  for (const [at, { id, documentHash, text, metadata, vector }] of chunks.entries()) {
    const row = first + at;
    batch.put('chunks', [collection, row], { id, documentHash, text, metadata });
    batch.put('vectors', [collection, row], vectorBytes(vector));
    batch.put('chunkIds', [collection, id], row);
    await breathe();
  }
}

/** The chunks of rows from `first` to before `end`, some at a time, with a pause after each batch. Rows that are waste come too. */
export async function* chunkPages(
  store: Store,
  collection: number,
  first: number,
  end: number,
): AsyncGenerator<{ row: number; chunk: ChunkRecord }[]> {
  for (let from = first; from < end; ) {
    const page = store.chunks.page({ start: [collection, from], end: [collection, end], limit: ROWS_PER_TURN });
    if (page.length === 0) return;
    yield page.map(({ key, value }) => ({ row: key[1], chunk: value }));
    from = page.at(-1)!.key[1] + 1;
    await turn();
  }
}

/** The vectors of rows from `first` to before `end`, as `chunkPages` gives chunks. */
export async function* vectorPages(
  store: Store,
  collection: number,
  first: number,
  end: number,
): AsyncGenerator<{ row: number; vector: Float32Array }[]> {
  for (let from = first; from < end; ) {
    const page = store.vectors.page({ start: [collection, from], end: [collection, end], limit: ROWS_PER_TURN });
    if (page.length === 0) return;
    yield page.map(({ key, value }) => ({ row: key[1], vector: vectorOf(value) }));
    from = page.at(-1)!.key[1] + 1;
    await turn();
  }
}

/** Adds to a write that rows are to be removed; `sweep` does it. */
export function putWaste(batch: Batch, collection: number, ranges: readonly RowRange[]): void {
  for (const [first, count] of ranges) batch.put('waste', [collection, first], { count });
}

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
