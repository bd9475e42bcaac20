import { randomInt } from 'node:crypto';
import { Failure } from '../../../../schemas/errors.js';
import { SerialQueue } from '../../../base/gate.js';
import { log } from '../../../base/log.js';
import { breathe, turn } from '../../../base/loop.js';
import { StateMachine } from '../../../base/state-machine.js';
import type { ChunkRecord, CollectionRecord, DatabaseKey, DocumentRecord, RowRange } from '../../../store/records.js';
import type { Batch, Store } from '../../../store/store.js';
import type { EmbeddedChunk } from '../../contract.js';
import { dimensionMismatch } from '../vectors.js';
import { BackgroundWork, ROWS_PER_TURN } from './pacing.js';
import { Bitmap, DocumentChanges, putRows, putWaste, RecentRows, rowCount, sweepRows, vectorOf } from './rows.js';
import { COLLECTION_TRANSITIONS, type CollectionState } from './states.js';

/** Numbers of collections are drawn below this. */
const MAX_COLLECTION = 2 ** 48 - 1;
const MAX_ROWS = 2 ** 32 - 1;

/** Rows of one write: about 1 ms of the event loop for LMDB's part of it. */
const ROWS_PER_WRITE = 128;

const TAKES_CHANGES: ReadonlySet<CollectionState> = new Set(['open', 'adding', 'unsure']);

interface Addition {
  readonly chunks: readonly EmbeddedChunk[];
  readonly replace: boolean;
  readonly signal: AbortSignal;
  resolve(counts: { stored: number; skipped: number }): void;
  reject(reason: unknown): void;
}

/** Takes the first addition, and those behind it that fit into one write with it; one that replaces goes alone. */
function takeGroup(waiting: Addition[]): Addition[] {
  let rows = 0;
  let count = 0;
  for (const { chunks, replace } of waiting) {
    rows += chunks.length;
    if (count > 0 && (replace || rows > ROWS_PER_WRITE)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

/**
 * The records of one database: what is acknowledged is on disk. A chunk is there when the record of its document has its row, so that any
 * number of rows come and go in one small write: rows are written before, and removed after.
 */
export class Collection {
  readonly #store: Store;
  readonly #key: DatabaseKey;
  readonly #machine = new StateMachine(COLLECTION_TRANSITIONS, 'open');
  readonly #queue = new SerialQueue();
  /** Takes removed rows out of the tables. */
  readonly #sweeper: BackgroundWork;
  #record: CollectionRecord;
  readonly documents = new Map<string, DocumentRecord>();
  /** Rows that are there. */
  alive = new Bitmap();
  contentBytes = 0;
  /** Rows that were removed since somebody last took them from here. */
  readonly dead: RowRange[] = [];
  /** The rows that came last, for those who follow. */
  readonly recent = new RecentRows();
  readonly #additions: Addition[] = [];
  /** The first row of the addition that is being written. */
  #firstAdded: number | undefined;

  private constructor(store: Store, key: DatabaseKey) {
    this.#store = store;
    this.#key = key;
    this.#record = store.collections.get(key) ?? newRecord();
    this.#sweeper = new BackgroundWork(
      () => this.#inOrder(() => sweepRows(store, this.#record.collection)),
      (error) =>
        log('warn', 'removed chunks could not be taken off the disk yet; the next change tries again', { database: key.join('/'), error }),
    );
  }

  /** Reads what there is of a database; nothing is written. */
  static async open(store: Store, key: DatabaseKey): Promise<Collection> {
    const collection = new Collection(store, key);
    await collection.#read();
    collection.#sweeper.start();
    return collection;
  }

  /** As it was written last. */
  get record(): Readonly<CollectionRecord> {
    return this.#record;
  }

  /** The rows before this one have been added or will never be. */
  get settled(): number {
    return this.#firstAdded ?? this.#record.nextRow;
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

  /**
   * Adds chunks, all or none. With `replace`, those whose ids are there take the place of the former ones, else they are skipped. What is
   * added while an earlier addition is written goes to the disk together.
   */
  add(chunks: readonly EmbeddedChunk[], replace: boolean, signal: AbortSignal): Promise<{ stored: number; skipped: number }> {
    return new Promise((resolve, reject) => {
      this.#additions.push({ chunks, replace, signal, resolve, reject });
      this.#inOrder(() => this.#addGroup()).catch((error: unknown) => {
        for (const waiting of this.#additions.splice(0)) waiting.reject(error);
      });
    });
  }

  /** Removes a document; returns how many chunks it had. */
  remove(documentHash: string): Promise<number> {
    return this.#inOrder(async () => {
      this.#checkOpen();
      const document = this.documents.get(documentHash);
      if (document === undefined) return 0;
      const record = this.#next();
      await this.#put((batch) => {
        batch.remove('documents', [record.collection, documentHash]);
        putWaste(batch, record.collection, document.rows);
        batch.put('collections', this.#key, record);
      });
      this.#record = record;
      this.#forget(documentHash, document);
      this.#sweeper.start();
      return rowCount(document.rows);
    });
  }

  /** Removes everything; what is added later is another collection. */
  drop(): Promise<void> {
    return this.#inOrder(async () => {
      const record = this.#record;
      await this.#put((batch) => putDrop(batch, this.#key, record));
      this.#record = newRecord();
      this.documents.clear();
      this.alive = new Bitmap();
      this.contentBytes = 0;
      this.dead.length = 0;
      this.recent.clear();
      this.#sweeper.start();
    });
  }

  /** Notes index files. Nothing is noted for a collection that was dropped meanwhile. */
  noteSnapshot(collection: number, snapshot: NonNullable<CollectionRecord['snapshot']>): Promise<boolean> {
    return this.#inOrder(async () => {
      if (this.#record.collection !== collection) return false;
      const record = { ...this.#record, snapshot };
      await this.#put((batch) => batch.put('collections', this.#key, record));
      this.#record = record;
      return true;
    });
  }

  /** Waits until removed rows have left the tables. */
  async swept(): Promise<void> {
    this.#sweeper.start();
    await this.#sweeper.ended();
  }

  /** Lets writes end, and refuses later ones. */
  async close(): Promise<void> {
    this.#machine.on('close');
    const swept = this.#sweeper.stop();
    await this.#queue.run(async () => {});
    await swept;
  }

  /** Adds what waits, as far as it fits into one write; never rejects. */
  async #addGroup(): Promise<void> {
    const group = takeGroup(this.#additions);
    const fresh = new Map<string, EmbeddedChunk>();
    const replaced: number[] = [];
    const answers: (() => void)[] = [];
    let dimensions = this.#record.dimensions;
    for (const { chunks, replace, signal, resolve, reject } of group) {
      try {
        this.#checkOpen();
        signal.throwIfAborted();
        // Two first additions may have been checked before either was written.
        dimensions ??= chunks[0]?.vector.length;
        if (chunks[0] && chunks[0].vector.length !== dimensions)
          throw dimensionMismatch(this.#key[2], dimensions!, chunks[0].vector, 'A vector');
      } catch (error) {
        reject(error);
        continue;
      }
      const before = fresh.size;
      for (const chunk of chunks) {
        await breathe();
        const row = fresh.has(chunk.id) ? undefined : this.rowOf(chunk.id);
        if (fresh.has(chunk.id) || (row !== undefined && !replace)) continue;
        if (row !== undefined) replaced.push(row);
        fresh.set(chunk.id, chunk);
      }
      const stored = fresh.size - before;
      answers.push(() => resolve({ stored, skipped: chunks.length - stored }));
    }
    try {
      // An abort ends an addition of many writes; others are over in a moment.
      if (fresh.size > 0) await this.#write([...fresh.values()], replaced, group[0]!.signal);
      for (const answer of answers) answer();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** Runs a task after those before it, with the records as the tables have them. */
  #inOrder<T>(task: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      if (this.#machine.state === 'unsure' || this.#machine.state === 'closed-unsure') await this.#readAgain();
      return task();
    });
  }

  async #put(fill: (batch: Batch) => void | Promise<void>): Promise<void> {
    try {
      await this.#store.write(fill);
    } catch (error) {
      // A disk that did not confirm in time may have stored it all the same.
      this.#machine.on('failed');
      throw error;
    }
  }

  /** Finds out what became of a write that failed. */
  async #readAgain(): Promise<void> {
    const before = this.alive;
    this.#record = this.#store.collections.get(this.#key) ?? newRecord();
    this.documents.clear();
    this.alive = new Bitmap();
    this.contentBytes = 0;
    this.recent.clear();
    await this.#read();
    for (const row of before.rows()) if (!this.alive.has(row)) this.dead.push([row, 1]);
    this.#machine.on('read');
  }

  #checkOpen(): void {
    if (!TAKES_CHANGES.has(this.#machine.state)) throw new Failure('unavailable', `The database '${this.#key[2]}' is closed.`);
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
      await turn();
    }
  }

  /** Writes rows in pieces that nobody sees, the last of them with the records that make them count. */
  async #write(chunks: readonly EmbeddedChunk[], replaced: readonly number[], signal: AbortSignal): Promise<void> {
    const { collection, nextRow: first } = this.#record;
    const last = Math.floor((chunks.length - 1) / ROWS_PER_WRITE) * ROWS_PER_WRITE;
    if (first + chunks.length > MAX_ROWS) throw new Failure('unavailable', `The database '${this.#key[2]}' has no rows left: reindex it.`);
    const dimensions = this.#record.dimensions ?? chunks[0]!.vector.length;
    const staged = last > 0;
    this.#firstAdded = first;
    this.#machine.on('add');
    try {
      if (staged) await this.#reserve(chunks.length);
      for (let at = 0; at < last; at += ROWS_PER_WRITE) {
        await this.#put((batch) => putRows(batch, collection, first + at, chunks.slice(at, at + ROWS_PER_WRITE)));
        signal.throwIfAborted();
      }
      const changes = new DocumentChanges(this, chunks, first, replaced);
      const record = { ...this.#next(), nextRow: first + chunks.length, dimensions };
      await this.#put(async (batch) => {
        await putRows(batch, collection, first + last, chunks.slice(last));
        changes.put(batch, collection);
        batch.put('collections', this.#key, record);
        if (staged) batch.remove('waste', [collection, first]);
      });
      this.#record = record;
      changes.apply();
      this.recent.put(first, chunks);
    } finally {
      this.#firstAdded = undefined;
      this.#machine.on('added');
      if (staged || replaced.length > 0) this.#sweeper.start();
    }
  }

  /** Gives out rows, and marks them as waste until they count. */
  async #reserve(count: number): Promise<void> {
    const { collection, nextRow } = this.#record;
    const record = { ...this.#record, nextRow: nextRow + count };
    await this.#put((batch) => {
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

/** Drops one database, which must not be open. Nothing to drop counts as dropped. */
export async function dropCollection(store: Store, key: DatabaseKey): Promise<void> {
  const record = store.collections.get(key);
  if (record) await store.write((batch) => putDrop(batch, key, record));
}

function putDrop(batch: Batch, key: DatabaseKey, { collection, nextRow }: CollectionRecord): void {
  batch.remove('collections', key);
  batch.put('waste', [collection, 0], { count: nextRow + 1, whole: true });
}

function newRecord(): CollectionRecord {
  return { collection: randomInt(1, MAX_COLLECTION), generation: 0, nextRow: 0, updatedMs: 0 };
}
