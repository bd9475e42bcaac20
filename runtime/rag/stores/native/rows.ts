import { breathe, turn } from '../../../base/loop.js';
import type { Batch, ChunkRecord, RowRange, Store } from '../../../store/store.js';
import type { EmbeddedChunk } from '../../contract.js';
import { ROWS_PER_TURN } from './yielding.js';

/** Components as they lie in the table. */
export function vectorBytes(vector: Float32Array): Uint8Array {
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
