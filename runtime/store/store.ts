import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Backups } from './backups.js';
import { encoded } from './codec.js';
import { type Environment, openEnvironment, type StoredKey } from './environment.js';
import { markClean, openSound } from './integrity.js';
import { type Migration, migrate } from './migrations.js';
import { type StoreCounts, Table } from './table.js';
import type { TableName, Tables } from './tables.js';
import { type Chain, type Change, Writer } from './writer.js';

export type { ChunkRecord, CollectionRecord, DatabaseKey, DocumentRecord, RowRange } from './chunk-records.js';
export type { DetectorRecord, DetectorSettings, ModelRecord, SegmentRecord, StoredColumn, TableRecord } from './column-records.js';
export { alignedBytes, bytesOf } from './column-records.js';
/** Records that users of the store hold. */
export type { SessionKey, SessionRecord } from './tables.js';
export type { Cleanup, ItemOutcome, ItemRecord, TaskKey, TaskRecord } from './task-records.js';

export type { Chain } from './writer.js';

/** Collects the changes of one write. */
export class Batch {
  readonly changes: Change[] = [];

  /** Stores a value; what it refers to is encoded at once and may change afterwards. */
  put<Name extends TableName>(table: Name, key: Tables[Name]['key'], value: Tables[Name]['value']): void {
    this.changes.push({ table, key: key as StoredKey, value: encoded(table, value) });
  }

  /** Removes a record, if there is one. */
  remove<Name extends TableName>(table: Name, key: Tables[Name]['key']): void {
    this.changes.push({ table, key: key as StoredKey, value: undefined });
  }
}

/** Everything but configuration and uploads: typed tables in one LMDB environment under `{dataDir}/state`. */
export class Store {
  readonly meta: Table<'meta'>;
  readonly sessions: Table<'sessions'>;
  readonly turns: Table<'turns'>;
  readonly trash: Table<'trash'>;
  readonly tasks: Table<'tasks'>;
  readonly taskItems: Table<'taskItems'>;
  readonly collections: Table<'collections'>;
  readonly documents: Table<'documents'>;
  readonly chunks: Table<'chunks'>;
  readonly vectors: Table<'vectors'>;
  readonly chunkIds: Table<'chunkIds'>;
  readonly waste: Table<'waste'>;
  readonly buffers: Table<'buffers'>;
  readonly segments: Table<'segments'>;
  readonly detectors: Table<'detectors'>;
  readonly detectorModels: Table<'detectorModels'>;
  readonly counts: StoreCounts = { read: 0, written: 0 };
  readonly #environment: Environment;
  readonly #writer: Writer;
  readonly #folder: string;
  readonly #backups: Backups;
  #closing: Promise<void> | undefined;
  /** Why the last write failed or was not begun; undefined when neither is so. */
  #trouble: string | undefined;

  /** Use `openStore`. */
  constructor(environment: Environment, folder: string) {
    this.#environment = environment;
    this.#folder = folder;
    this.#writer = new Writer(environment);
    this.#backups = new Backups(environment, folder);
    const { tables } = environment;
    this.meta = new Table<'meta'>(tables.meta, this.counts);
    this.sessions = new Table<'sessions'>(tables.sessions, this.counts);
    this.turns = new Table<'turns'>(tables.turns, this.counts);
    this.trash = new Table<'trash'>(tables.trash, this.counts);
    this.tasks = new Table<'tasks'>(tables.tasks, this.counts);
    this.taskItems = new Table<'taskItems'>(tables.taskItems, this.counts);
    this.collections = new Table<'collections'>(tables.collections, this.counts);
    this.documents = new Table<'documents'>(tables.documents, this.counts);
    this.chunks = new Table<'chunks'>(tables.chunks, this.counts);
    this.vectors = new Table<'vectors'>(tables.vectors, this.counts);
    this.chunkIds = new Table<'chunkIds'>(tables.chunkIds, this.counts);
    this.waste = new Table<'waste'>(tables.waste, this.counts);
    this.buffers = new Table<'buffers'>(tables.buffers, this.counts);
    this.segments = new Table<'segments'>(tables.segments, this.counts);
    this.detectors = new Table<'detectors'>(tables.detectors, this.counts);
    this.detectorModels = new Table<'detectorModels'>(tables.detectorModels, this.counts);
  }

  /**
   * Makes the changes that `fill` collects, all or none, after all writes that were collected before. Resolves when they are on disk, so that neither a crash
   * nor a power cut takes them back. Rejects with `disk_full`, `unavailable` or `busy`; the store stays usable. Of one `chain` no write is made
   * behind one that failed.
   */
  async write(fill: (batch: Batch) => void | Promise<void>, chain?: Chain): Promise<void> {
    const batch = new Batch();
    const filling = fill(batch);
    if (filling !== undefined) await filling;
    await this.#noted(this.#writer.write(batch.changes, chain));
    this.#trouble = undefined;
    this.counts.written += batch.changes.length;
  }

  /**
   * Sees to it that a value of about `sizeBytes` can be stored soon, so that work whose result could not be kept is not begun. Rejects as
   * `write` does; a write may still fail when others take the room meanwhile.
   */
  expect(sizeBytes: number): Promise<void> {
    return this.#noted(this.#writer.expect(sizeBytes));
  }

  /** What `/health` says: unhealthy from a write that failed, or for which there was no room, until one succeeds. */
  health(): { status: 'healthy' | 'unhealthy'; message: string } {
    if (this.#trouble !== undefined) return { status: 'unhealthy', message: this.#trouble };
    return { status: 'healthy', message: `the state store in ${this.#folder} works` };
  }

  /** Copies the store into its backup folder now; the newest copies are kept. Returns the copy's path. */
  backup(): Promise<string> {
    return this.#backups.make();
  }

  /** Makes a copy now and then while the store is open; failures are logged. */
  startBackups(): void {
    this.#backups.start();
  }

  /** Writes what waits, flushes, and notes that the files are sound. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #noted(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (failure) {
      this.#trouble = (failure as Error).message;
      throw failure;
    }
  }

  async #close(): Promise<void> {
    await this.#backups.stop();
    await this.#writer.close();
    await this.#environment.close();
    markClean(this.#folder);
  }
}

/** How a store is opened in tests. */
export interface StoreOptions {
  migrations?: readonly Migration[];
}

/** The folder of a data directory that holds the store. */
function stateFolder(dataDir: string): string {
  return join(dataDir, 'state');
}

/**
 * Opens the store of a data directory, or makes it. A store that was not closed is checked first; a damaged one is moved aside, loudly, and
 * replaced by its newest backup or an empty one. Older formats are brought up to date after a backup; throws `conflict` (StateTooNew)
 * for a newer one. The caller sees to it that one process at a time has the data directory.
 */
export async function openStore(dataDir: string, { migrations }: StoreOptions = {}): Promise<Store> {
  const folder = stateFolder(dataDir);
  mkdirSync(folder, { recursive: true });
  const environment = await openSound(folder, () => openEnvironment(folder));
  const store = new Store(environment, folder);
  try {
    await migrate(store, folder, migrations);
  } catch (failure) {
    await store.close();
    throw failure;
  }
  store.startBackups();
  return store;
}
