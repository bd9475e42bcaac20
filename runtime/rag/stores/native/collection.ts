import { randomInt } from 'node:crypto';
import { Failure } from '../../../../schemas/errors.js';
import { log } from '../../../log.js';
import type { Batch, ChunkRecord, CollectionRecord, DatabaseKey, DocumentRecord, RowRange, Store } from '../../../store/store.js';
import type { EmbeddedChunk } from '../../contract.js';
import { dimensionMismatch } from '../check.js';
import { Bitmap } from './bitmap.js';
import { Changes } from './changes.js';
import { rowCount } from './ranges.js';
import { putRow, putWaste, vectorOf } from './rows.js';
import { sweepSome } from './sweep.js';
import { pause, ROWS_PER_TURN, Turns } from './yielding.js';

/** Numbers of collections are drawn below this. */
const MAX_COLLECTION = 2 ** 48 - 1;
const MAX_ROWS = 2 ** 32 - 1;

/**
 * The records of one database: what is acknowledged is on disk. A chunk is there when the record of its document has its row, so that any
 * number of rows come and go in one small write: rows are written before, and removed after.
 */
export class Collection {
  readonly #store: Store;
  readonly #key: DatabaseKey;
  readonly #turns = new Turns();
  #record: CollectionRecord;
  #sweeping: Promise<void> | undefined;
  #closed = false;
  readonly documents = new Map<string, DocumentRecord>();
  /** Rows that are there. */
  alive = new Bitmap();
  contentBytes = 0;
  /** Rows that were removed since somebody last took them from here. */
  readonly dead: RowRange[] = [];
  /** The first row of an addition that is under way. */
  #adding: number | undefined;

  private constructor(store: Store, key: DatabaseKey) {
    this.#store = store;
    this.#key = key;
    this.#record = store.collections.get(key) ?? newRecord();
  }

  /** Reads what there is of a database; nothing is written. */
  static async open(store: Store, key: DatabaseKey): Promise<Collection> {
    const collection = new Collection(store, key);
    await collection.#read();
    collection.#sweep();
    return collection;
  }

  /** As it was written last. */
  get record(): Readonly<CollectionRecord> {
    return this.#record;
  }

  /** What becomes of the rows before this one is decided. */
  get settled(): number {
    return this.#adding ?? this.#record.nextRow;
  }

  /** The row of a chunk that is there. */
  rowOf(id: string): number | undefined {
    const row = this.#store.chunkIds.get([this.#record.collection, id]);
    return row !== undefined && this.alive.has(row) ? row : undefined;
  }

  /** The chunk of a row. */
  chunk(row: number): ChunkRecord | undefined {
    return this.#store.chunks.get([this.#record.collection, row]);
  }

  /** The vector of a row. */
  vector(row: number): Float32Array | undefined {
    const bytes = this.#store.vectors.get([this.#record.collection, row]);
    return bytes && vectorOf(bytes);
  }

  /** Adds chunks, all or none. With `replace`, those whose ids are there take the place of the former ones, else they are skipped. */
  add(chunks: readonly EmbeddedChunk[], replace: boolean, signal: AbortSignal): Promise<{ stored: number; skipped: number }> {
    return this.#turns.run(async () => {
      this.#checkOpen();
      const fresh = new Map<string, EmbeddedChunk>();
      const replaced: number[] = [];
      for (const [index, chunk] of chunks.entries()) {
        if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await pause();
        if (fresh.has(chunk.id)) continue;
        const row = this.rowOf(chunk.id);
        if (row !== undefined && !replace) continue;
        if (row !== undefined) replaced.push(row);
        fresh.set(chunk.id, chunk);
      }
      signal.throwIfAborted();
      if (fresh.size > 0) await this.#write([...fresh.values()], replaced, signal);
      return { stored: fresh.size, skipped: chunks.length - fresh.size };
    });
  }

  /** Removes a document; returns how many chunks it had. */
  remove(documentHash: string): Promise<number> {
    return this.#turns.run(async () => {
      this.#checkOpen();
      const document = this.documents.get(documentHash);
      if (document === undefined) return 0;
      const record = this.#next();
      await this.#store.write((batch) => {
        batch.remove('documents', [record.collection, documentHash]);
        putWaste(batch, record.collection, document.rows);
        batch.put('collections', this.#key, record);
      });
      this.#record = record;
      this.#forget(documentHash, document);
      this.#sweep();
      return rowCount(document.rows);
    });
  }

  /** Removes everything; what is added later is another collection. */
  drop(): Promise<void> {
    return this.#turns.run(async () => {
      const record = this.#record;
      await this.#store.write((batch) => putDrop(batch, this.#key, record));
      this.#record = newRecord();
      this.documents.clear();
      this.alive = new Bitmap();
      this.contentBytes = 0;
      this.dead.length = 0;
      this.#sweep();
    });
  }

  /** Notes index files. Nothing is noted for a collection that was dropped meanwhile. */
  noteSnapshot(collection: number, snapshot: NonNullable<CollectionRecord['snapshot']>): Promise<boolean> {
    return this.#turns.run(async () => {
      if (this.#record.collection !== collection) return false;
      const record = { ...this.#record, snapshot };
      await this.#store.write((batch) => batch.put('collections', this.#key, record));
      this.#record = record;
      return true;
    });
  }

  /** Waits until removed rows have left the tables. */
  async swept(): Promise<void> {
    this.#sweep();
    await this.#sweeping;
  }

  /** Lets writes end, and refuses later ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turns.run(async () => {});
    await this.#sweeping;
  }

  #checkOpen(): void {
    if (this.#closed) throw new Failure('unavailable', `The database '${this.#key[2]}' is closed.`);
  }

  #next(): CollectionRecord {
    return { ...this.#record, generation: this.#record.generation + 1, updatedMs: Date.now() };
  }

  async #read(): Promise<void> {
    const { collection } = this.#record;
    for (let start: readonly (string | number)[] = [collection]; ; ) {
      const page = this.#store.documents.page({ start, end: [collection + 1], limit: ROWS_PER_TURN });
      for (const { key, value } of page) {
        this.documents.set(key[1], value);
        this.contentBytes += value.bytes;
        for (const [first, count] of value.rows) for (let row = first; row < first + count; row += 1) this.alive.add(row);
      }
      if (page.length < ROWS_PER_TURN) return;
      start = [collection, `${page.at(-1)!.key[1]}\u0000`];
      await pause();
    }
  }

  /** Writes rows in pieces that nobody sees, the last of them with the records that make them count. */
  async #write(chunks: readonly EmbeddedChunk[], replaced: readonly number[], signal: AbortSignal): Promise<void> {
    const { collection, nextRow: first } = this.#record;
    if (first + chunks.length > MAX_ROWS) throw new Failure('unavailable', `The database '${this.#key[2]}' has no rows left: reindex it.`);
    const dimensions = this.#record.dimensions ?? chunks[0]!.vector.length;
    // Two first additions may have been checked before either was written.
    if (chunks[0]!.vector.length !== dimensions) throw dimensionMismatch(this.#key[2], dimensions, chunks[0]!.vector, 'A vector');
    const staged = chunks.length > ROWS_PER_TURN;
    this.#adding = first;
    try {
      if (staged) await this.#reserve(chunks.length);
      for (let at = 0; at + ROWS_PER_TURN < chunks.length; at += ROWS_PER_TURN) {
        await this.#store.write((batch) => {
          for (let i = at; i < at + ROWS_PER_TURN; i += 1) putRow(batch, collection, first + i, chunks[i]!);
        });
        signal.throwIfAborted();
      }
      const changes = new Changes(this, chunks, first, replaced);
      const record = { ...this.#next(), nextRow: first + chunks.length, dimensions };
      await this.#store.write((batch) => {
        const rest = Math.floor((chunks.length - 1) / ROWS_PER_TURN) * ROWS_PER_TURN;
        for (let i = rest; i < chunks.length; i += 1) putRow(batch, collection, first + i, chunks[i]!);
        changes.put(batch, collection);
        batch.put('collections', this.#key, record);
        if (staged) batch.remove('waste', [collection, first]);
      });
      this.#record = record;
      changes.apply();
    } finally {
      this.#adding = undefined;
      if (staged || replaced.length > 0) this.#sweep();
    }
  }

  /** Gives out rows, and marks them as waste until they count. */
  async #reserve(count: number): Promise<void> {
    const { collection, nextRow } = this.#record;
    const record = { ...this.#record, nextRow: nextRow + count };
    await this.#store.write((batch) => {
      putWaste(batch, collection, [[nextRow, count]]);
      batch.put('collections', this.#key, record);
    });
    this.#record = record;
  }

  #forget(documentHash: string, document: DocumentRecord): void {
    this.documents.delete(documentHash);
    this.contentBytes -= document.bytes;
    this.dead.push(...document.rows);
    for (const [first, count] of document.rows) for (let row = first; row < first + count; row += 1) this.alive.delete(row);
  }

  #sweep(): void {
    this.#sweeping ??= this.#sweepAll().finally(() => {
      this.#sweeping = undefined;
    });
  }

  async #sweepAll(): Promise<void> {
    try {
      while (!this.#closed && (await this.#turns.run(() => sweepSome(this.#store, this.#record.collection))));
    } catch (error) {
      log('warn', 'removed chunks could not be taken off the disk yet; the next change tries again', {
        database: this.#key.join('/'),
        error,
      });
    }
  }
}

/** Drops every database of a project, none of which may be open; what they had leaves the disk when the next database is opened. */
export async function dropCollections(store: Store, namespace: string, project: string): Promise<void> {
  const range = { start: [namespace, project], end: [namespace, `${project}\u0000`], limit: ROWS_PER_TURN };
  for (let page = store.collections.page(range); page.length > 0; page = store.collections.page(range)) {
    await store.write((batch) => {
      for (const { key, value } of page) putDrop(batch, key, value);
    });
  }
}

function putDrop(batch: Batch, key: DatabaseKey, { collection, nextRow }: CollectionRecord): void {
  batch.remove('collections', key);
  batch.put('waste', [collection, 0], { count: nextRow + 1, whole: true });
}

function newRecord(): CollectionRecord {
  return { collection: randomInt(1, MAX_COLLECTION), generation: 0, nextRow: 0, updatedMs: 0 };
}
