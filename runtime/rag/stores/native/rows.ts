import { breathe, turn } from '../../../base/loop.js';
import type { ChunkRecord, DocumentRecord, RowRange } from '../../../store/records.js';
import type { Batch, Store } from '../../../store/store.js';
import type { EmbeddedChunk } from '../../contract.js';
import { documentName } from '../metadata.js';
import { ROWS_PER_TURN } from './pacing.js';

/** A set of rows: bit `row & 7` of byte `row >> 3`. */
export class Bitmap {
  #bytes: Uint8Array;
  /** Rows in the set. */
  size = 0;

  constructor(rows = 0) {
    this.#bytes = new Uint8Array((rows + 7) >>> 3);
  }

  /** The bits; rows beyond the array are not in the set. The set's own memory. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Whether a row is in the set. */
  has(row: number): boolean {
    return ((this.#bytes[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  /** Puts a row into the set. */
  add(row: number): void {
    if (this.has(row)) return;
    if (row >>> 3 >= this.#bytes.length) this.#grow((row >>> 3) + 1);
    this.#bytes[row >>> 3]! |= 1 << (row & 7);
    this.size += 1;
  }

  /** Takes a row out of the set. */
  delete(row: number): void {
    if (!this.has(row)) return;
    this.#bytes[row >>> 3]! &= ~(1 << (row & 7));
    this.size -= 1;
  }

  /** The rows in the set, ascending. */
  *rows(): Generator<number> {
    for (const [at, byte] of this.#bytes.entries()) {
      if (byte === 0) continue;
      for (let bit = 0; bit < 8; bit += 1) if ((byte & (1 << bit)) !== 0) yield at * 8 + bit;
    }
  }

  #grow(least: number): void {
    const bytes = new Uint8Array(Math.max(least, this.#bytes.length * 2));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}

/** Ranges with further rows at their end, the last one prolonged where that is possible. */
function withRows(ranges: readonly RowRange[], first: number, count: number): RowRange[] {
  if (count === 0) return [...ranges];
  const last = ranges.at(-1);
  if (last !== undefined && last[0] + last[1] === first) return [...ranges.slice(0, -1), [last[0], last[1] + count]];
  return [...ranges, [first, count]];
}

/** Ranges without one row. */
function withoutRow(ranges: readonly RowRange[], row: number): RowRange[] {
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
function chunkBytes(text: string, dimensions: number): number {
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

/** Adds to a write that rows are to be removed; `sweepRows` removes them. */
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

/** What is known of the rows of a collection. */
interface Rows {
  readonly documents: Map<string, DocumentRecord>;
  readonly alive: Bitmap;
  readonly dead: RowRange[];
  contentBytes: number;
  chunk(row: number): { documentHash: string; text: string } | undefined;
}

/** What adding chunks at rows from `first` on, in place of the rows `replaced`, does to the documents. */
export class DocumentChanges {
  readonly #rows: Rows;
  readonly #documents = new Map<string, DocumentRecord>();
  readonly #added: RowRange;
  readonly #replaced: readonly number[];

  constructor(rows: Rows, chunks: readonly EmbeddedChunk[], first: number, replaced: readonly number[]) {
    this.#rows = rows;
    this.#added = [first, chunks.length];
    this.#replaced = replaced;
    const dimensions = chunks[0]!.vector.length;
    for (const row of replaced) {
      const chunk = rows.chunk(row)!;
      const { rows: ranges, bytes, name } = this.#document(chunk.documentHash)!;
      this.#documents.set(chunk.documentHash, { name, rows: withoutRow(ranges, row), bytes: bytes - chunkBytes(chunk.text, dimensions) });
    }
    for (let at = 0; at < chunks.length; ) {
      const { documentHash, metadata } = chunks[at]!;
      const { name, rows: ranges, bytes } = this.#document(documentHash) ?? { name: documentName(metadata), rows: [], bytes: 0 };
      const from = at;
      let size = bytes;
      for (; chunks[at]?.documentHash === documentHash; at += 1) size += chunkBytes(chunks[at]!.text, dimensions);
      this.#documents.set(documentHash, { name, rows: withRows(ranges, first + from, at - from), bytes: size });
    }
  }

  /** Adds the records to a write. */
  put(batch: Batch, collection: number): void {
    for (const [hash, document] of this.#documents) {
      if (document.rows.length > 0) batch.put('documents', [collection, hash], document);
      else batch.remove('documents', [collection, hash]);
    }
    putWaste(
      batch,
      collection,
      this.#replaced.map((row) => [row, 1]),
    );
  }

  /** Makes what was written known. */
  apply(): void {
    const { documents, alive } = this.#rows;
    for (const [hash, document] of this.#documents) {
      this.#rows.contentBytes += document.bytes - (documents.get(hash)?.bytes ?? 0);
      if (document.rows.length > 0) documents.set(hash, document);
      else documents.delete(hash);
    }
    for (const row of this.#replaced) {
      alive.delete(row);
      this.#rows.dead.push([row, 1]);
    }
    for (let row = this.#added[0]; row < this.#added[0] + this.#added[1]; row += 1) alive.add(row);
  }

  #document(hash: string): DocumentRecord | undefined {
    return this.#documents.get(hash) ?? this.#rows.documents.get(hash);
  }
}

/** Everything below a collection, some at a time. */
const rangeOf = (collection: number) => ({ start: [collection], end: [collection + 1], limit: ROWS_PER_TURN });

/** The first rows that wait: of `collection`, else of one that was dropped. */
function firstWaste(store: Store, collection: number) {
  const [own] = store.waste.page({ ...rangeOf(collection), limit: 1 });
  return own ?? store.waste.page({ limit: ROWS_PER_TURN }).find(({ value }) => value.whole);
}

/**
 * Removes some of the rows that wait for it, of `collection` and of collections that were dropped; false when none wait. To be called
 * while nobody writes to the collection: rows that are being added count as waste until they are all there.
 */
export async function sweepRows(store: Store, collection: number): Promise<boolean> {
  const found = firstWaste(store, collection);
  if (found === undefined) return false;
  const [owner, first] = found.key;
  const documents = found.value.whole ? store.documents.keys(rangeOf(owner)) : [];
  const rows = store.chunks.page({ start: [owner, first], end: [owner, first + found.value.count], limit: ROWS_PER_TURN });
  await store.write((batch) => {
    for (const key of documents) batch.remove('documents', key);
    for (const { key, value } of rows) {
      batch.remove('chunks', key);
      batch.remove('vectors', key);
      // The id may belong to a chunk that was added later.
      if (store.chunkIds.get([owner, value.id]) === key[1]) batch.remove('chunkIds', [owner, value.id]);
    }
    if (rows.length < ROWS_PER_TURN && documents.length < ROWS_PER_TURN) batch.remove('waste', found.key);
  });
  return true;
}
