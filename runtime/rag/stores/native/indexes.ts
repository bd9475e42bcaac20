import { Failure } from '../../../../schemas/errors.js';
import { log } from '../../../base/log.js';
import { breathe } from '../../../base/loop.js';
import { StateMachine } from '../../../base/state-machine.js';
import type { CollectionRecord, RowRange } from '../../../store/records.js';
import type { Store } from '../../../store/store.js';
import type { Metric } from '../contract.js';
import { indexedText } from '../metadata.js';
import type { Collection } from './collection.js';
import { BackgroundWork, ROWS_PER_TURN } from './pacing.js';
import { type IndexFiles, IndexPair, type IndexRow } from './pair.js';
import { type Bitmap, vectorOf } from './rows.js';
import { INDEX_TRANSITIONS, type IndexState } from './states.js';

/** Files are written after this many rows, and after this share of all rows, whichever is more. */
const SNAPSHOT_ROWS = 20_000;
const SNAPSHOT_SHARE = 0.4;
/** Fewer rows are indexed again at a start in no time. */
const SNAPSHOT_LEAST_ROWS = 1_000;
/** Rows that are indexed in one call; the more, the fewer parts of the text index are merged later. */
const ROWS_PER_CALL = 256;
/** Numbers that one native call takes. */
const NUMBERS_PER_CALL = 2 ** 18;
/** Rows that are taken out of the indexes in one call. */
const REMOVED_PER_CALL = 2 ** 15;

/** States in which the indexes hold all rows before their end. */
const USABLE: ReadonlySet<IndexState> = new Set(['empty', 'following', 'removing']);

type Snapshot = NonNullable<CollectionRecord['snapshot']>;

interface NextRows {
  readonly rows: readonly IndexRow[];
  /** The rows before this one were looked at. */
  readonly end: number;
}

interface Waiter {
  readonly row: number;
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * Follows a collection: rows go into the indexes in their order, always read from the tables, whether they were added a moment ago, before
 * a crash, or are all to be indexed anew. Nobody waits for it to write; until it has caught up, readers look at the rest themselves.
 */
export class Indexes {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #files: IndexFiles;
  readonly #metric: Metric;
  readonly #machine = new StateMachine(INDEX_TRANSITIONS, 'unopened');
  readonly #following: BackgroundWork;
  #pair: IndexPair | undefined;
  /** The number of the collection whose rows the pair holds. */
  #indexed: number | undefined;
  #end = 0;
  #sinceSnapshot = 0;
  #trouble: string | undefined;
  readonly #waiting = new Set<Waiter>();

  constructor(store: Store, collection: Collection, files: IndexFiles, metric: Metric) {
    this.#store = store;
    this.#collection = collection;
    this.#files = files;
    this.#metric = metric;
    this.#following = new BackgroundWork(
      () => this.#step(),
      (error) => this.#fail(error),
    );
    this.follow();
  }

  /** Rows before this one are in the indexes, as far as they are there at all. */
  get end(): number {
    return this.#end;
  }

  /** The indexes; undefined before the first row. */
  get pair(): IndexPair | undefined {
    return this.#pair;
  }

  /** Whether the indexes may hold rows that were removed. */
  get hasDead(): boolean {
    return this.#machine.state !== 'following' || this.#collection.dead.length > 0;
  }

  /** Why the indexes do not follow; undefined when they do. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Says that the collection has changed. */
  follow(): void {
    this.#following.start();
  }

  /** Waits until the rows before `row` are in the indexes. Throws `unavailable` when they do not get there. */
  reached(row: number, signal?: AbortSignal): Promise<void> {
    if (this.#has(row)) return Promise.resolve();
    if (this.#machine.state === 'closed') return Promise.reject(closedFailure());
    return new Promise((resolve, reject) => {
      const abort = (): void => waiter.reject(signal?.reason);
      const done = (end: () => void): void => {
        this.#waiting.delete(waiter);
        signal?.removeEventListener('abort', abort);
        end();
      };
      const waiter: Waiter = { row, resolve: () => done(resolve), reject: (reason) => done(() => reject(reason)) };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiter);
      this.follow();
    });
  }

  /** Makes the indexes anew from the tables and writes their files. */
  async rebuild(): Promise<void> {
    this.#machine.on('rebuild');
    await this.reached(this.#collection.settled);
  }

  /** Ends following; writes the files when they would save work at the next start. Then the memory is freed. */
  async close({ save = true } = {}): Promise<void> {
    await this.#following.stop();
    this.#refuse(closedFailure());
    const { record } = this.#collection;
    const usable = this.#machine.state === 'following';
    if (usable) await this.#removeDead(this.#pair!);
    const newest = record.snapshot?.generation === record.generation && record.snapshot.rows === this.#end;
    if (save && usable && !newest && this.#end >= SNAPSHOT_LEAST_ROWS) await this.#snapshot();
    this.#machine.on('close');
    await this.#pair?.close();
    this.#pair = undefined;
  }

  /** Does the next thing that is to be done; false when there is none. */
  async #step(): Promise<boolean> {
    const { record, settled } = this.#collection;
    if (record.dimensions === undefined) {
      await this.#empty();
      return this.#rest();
    }
    // A drop whose write was not confirmed leaves another collection behind.
    if (this.#pair && this.#indexed !== record.collection) this.#machine.on('rebuild');
    if (this.#machine.state !== 'following') {
      await this.#open(record, record.dimensions);
      return true;
    }
    const pair = this.#pair!;
    if (this.#collection.dead.length > 0) {
      await this.#removeDead(pair);
      return true;
    }
    if (this.#end < settled) {
      await this.#feed(pair, record, settled);
      this.#notice();
      return true;
    }
    this.#rest();
    if (this.#end < SNAPSHOT_LEAST_ROWS || this.#sinceSnapshot < Math.max(SNAPSHOT_ROWS, this.#end * SNAPSHOT_SHARE)) return false;
    await this.#snapshot();
    return true;
  }

  /** All is indexed; false, for there is nothing more to do. */
  #rest(): false {
    this.#trouble = undefined;
    this.#notice();
    return false;
  }

  #fail(error: unknown): void {
    const { message } = error as Error;
    if (this.#trouble !== message)
      log('warn', 'the indexes of a database do not follow its chunks; answers are exact, and slow', { error });
    this.#trouble = message;
    this.#refuse(error);
  }

  async #empty(): Promise<void> {
    await this.#discard();
    this.#machine.on('empty');
  }

  /** Frees indexes that are of no use any more. */
  async #discard(): Promise<void> {
    const pair = this.#pair;
    this.#pair = undefined;
    this.#end = 0;
    await pair?.close();
  }

  /** Opens new indexes, with the rows of their files unless they are to be made anew. */
  async #open(record: Readonly<CollectionRecord>, dimensions: number): Promise<void> {
    this.#machine.on('open');
    const anew = this.#machine.state === 'rebuilding';
    try {
      await this.#discard();
      let pair = new IndexPair(this.#metric, dimensions);
      let end = 0;
      const snapshot = anew ? undefined : record.snapshot;
      if (snapshot !== undefined && (await this.#load(pair, record, snapshot))) end = snapshot.rows;
      else if (snapshot !== undefined) pair = new IndexPair(this.#metric, dimensions);
      this.#sinceSnapshot = anew || (snapshot !== undefined && end === 0) ? SNAPSHOT_ROWS : 0;
      this.#end = end;
      this.#pair = pair;
      this.#indexed = record.collection;
    } catch (error) {
      this.#machine.on('failed');
      throw error;
    }
    this.#machine.on('opened');
  }

  /** Loads files into indexes, without the rows that were removed later; false where the files are of no use, and closes the indexes then. */
  async #load(pair: IndexPair, record: Readonly<CollectionRecord>, snapshot: Snapshot): Promise<boolean> {
    const outcome = await pair.load(this.#files, { collection: record.collection, generation: snapshot.generation });
    if (outcome.state !== 'loaded') {
      const level = outcome.state === 'corrupt' ? 'warn' : 'info';
      log(level, `index files are ${outcome.state}; the indexes are made anew from the stored chunks`, { reason: outcome.reason });
      await pair.close();
      return false;
    }
    if (snapshot.generation !== record.generation) await removeRows(pair, missingRows(this.#collection.alive, snapshot.rows));
    return true;
  }

  async #removeDead(pair: IndexPair): Promise<void> {
    const ranges = this.#collection.dead.splice(0);
    this.#machine.on('remove');
    try {
      await removeRows(pair, rowsOf(ranges, this.#end));
    } catch (error) {
      // It is not known which of them are out.
      this.#machine.on('failed');
      throw error;
    }
    this.#machine.on('removed');
    this.#sinceSnapshot += ranges.length;
  }

  async #feed(pair: IndexPair, { collection, dimensions }: Readonly<CollectionRecord>, settled: number): Promise<void> {
    const most = Math.floor(NUMBERS_PER_CALL / dimensions!);
    const { rows, end } =
      this.#recent(Math.min(ROWS_PER_CALL, most), settled) ?? this.#stored(collection, Math.min(ROWS_PER_TURN, most), settled);
    const fitting = rows.filter(({ vector }) => vector.length === dimensions);
    await breathe();
    await pair.add(fitting).catch(() => addEach(pair, fitting));
    this.#end = end;
    this.#sinceSnapshot += rows.length;
    await breathe();
  }

  /** The next rows as far as the collection still holds them; undefined where it does not. */
  #recent(limit: number, settled: number): NextRows | undefined {
    const rows: IndexRow[] = [];
    let row = this.#end;
    for (; row < Math.min(settled, this.#end + limit); row += 1) {
      const chunk = this.#collection.recent.take(row);
      if (chunk === undefined) break;
      if (this.#collection.alive.has(row)) rows.push({ row, vector: chunk.vector, text: indexedText(chunk) });
    }
    return row > this.#end ? { rows, end: row } : undefined;
  }

  #stored(collection: number, limit: number, settled: number): NextRows {
    const chunks = this.#store.chunks.page({ start: [collection, this.#end], end: [collection, settled], limit });
    const rows: IndexRow[] = [];
    for (const { key, value } of chunks) {
      const bytes = this.#collection.alive.has(key[1]) ? this.#store.vectors.get(key) : undefined;
      if (bytes !== undefined) rows.push({ row: key[1], vector: vectorOf(bytes), text: indexedText(value) });
    }
    return { rows, end: chunks.length < limit ? settled : chunks.at(-1)!.key[1] + 1 };
  }

  async #snapshot(): Promise<void> {
    const { collection, generation } = this.#collection.record;
    const version = { collection, generation };
    const rows = this.#end;
    this.#sinceSnapshot = 0;
    try {
      await this.#pair!.save(this.#files, version);
      if (await this.#collection.noteSnapshot(collection, { generation, rows })) await this.#files.prune(version);
    } catch (error) {
      log('warn', 'the index files could not be written; the next start makes the indexes anew', { error });
    }
  }

  #has(row: number): boolean {
    return USABLE.has(this.#machine.state) && this.#end >= row;
  }

  #notice(): void {
    for (const waiter of this.#waiting) if (this.#has(waiter.row)) waiter.resolve();
  }

  #refuse(reason: unknown): void {
    for (const waiter of this.#waiting) waiter.reject(reason);
  }
}

/** Rows that went, of those that the indexes may have. */
function* rowsOf(ranges: readonly RowRange[], end: number): Generator<number> {
  for (const [first, count] of ranges) for (let row = first; row < Math.min(first + count, end); row += 1) yield row;
}

/** Rows that went after the files were written. */
function* missingRows(alive: Bitmap, end: number): Generator<number> {
  for (let row = 0; row < end; row += 1) if (!alive.has(row)) yield row;
}

async function removeRows(pair: IndexPair, rows: Iterable<number>): Promise<void> {
  let some: number[] = [];
  for (const row of rows) {
    if (some.push(row) < REMOVED_PER_CALL) continue;
    await pair.remove(Uint32Array.from(some));
    some = [];
  }
  if (some.length > 0) await pair.remove(Uint32Array.from(some));
}

/** A row that the indexes refuse must not keep the others out; it can be found by a scan of the tables only. */
async function addEach(pair: IndexPair, rows: readonly IndexRow[]): Promise<void> {
  for (const row of rows) {
    try {
      await pair.add([row]);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'invalid') throw error;
      log('warn', 'a stored chunk cannot be indexed', { row: row.row, error });
    }
  }
}

function closedFailure(): Failure {
  return new Failure('unavailable', 'The database is closed.');
}
