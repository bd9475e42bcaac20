import { join } from 'node:path';
import * as lmdb from 'lmdb';
import type { Usage } from './disk-space.js';
import { TABLE_NAMES, type TableName } from './tables.js';

/** Address space reserved at first, in bytes; the file takes only what is written, and LMDB maps more when it is used up. */
const MAP_SIZE_BYTES = 2 ** 30;
/** LMDB's own name of the file that holds everything. */
export const DATA_FILE = 'data.mdb';
/** Room for tables of later versions. */
const MAX_TABLES = 64;

/** A key as LMDB orders it: numbers before texts, lists element by element. */
export type StoredKey = string | number | readonly (string | number)[];

/** What the package exports and its types leave out. */
const { keyValueToBuffer, bufferToKeyValue } = lmdb as unknown as {
  keyValueToBuffer(key: StoredKey): Uint8Array;
  bufferToKeyValue(bytes: Uint8Array): unknown;
};

/** A key as LMDB's file has it. */
export function keyBytes(key: StoredKey): Uint8Array {
  return keyValueToBuffer(key);
}

/** LMDB takes no longer key, in bytes. */
const MOST_KEY_BYTES = 1_978;

/** Whether there can be a record under a key: LMDB throws for one that is too long. */
export function isPossibleKey(key: StoredKey): boolean {
  const texts = Array.isArray(key) ? key : [key];
  const letters = texts.reduce<number>((sum, part) => sum + (typeof part === 'string' ? part.length : 9), 0);
  // A letter takes up to three bytes.
  return letters * 3 < MOST_KEY_BYTES || keyBytes(key).length <= MOST_KEY_BYTES;
}

/** The key of such bytes. Throws for bytes that are none. */
export function keyOf(bytes: Uint8Array): StoredKey {
  return bufferToKeyValue(Buffer.from(bytes)) as StoredKey;
}

/** Bounds of a read. `start` is included, `end` is not. */
export interface Range {
  start?: StoredKey;
  end?: StoredKey;
  limit?: number;
  reverse?: boolean;
}

/** The part of an LMDB table that the store uses; values are bytes. */
export interface RawTable {
  get(key: StoredKey): Uint8Array | undefined;
  put(key: StoredKey, value: Uint8Array): Promise<boolean>;
  remove(key: StoredKey): Promise<boolean>;
  getRange(range: Range): Iterable<{ key: StoredKey; value: Uint8Array }>;
  getKeys(range: Range): Iterable<StoredKey>;
}

/** The promise of a batch: it resolves when the batch is visible, `flushed` when it is on disk. */
export type CommitPromise = Promise<boolean> & { flushed?: Promise<unknown> };

/** An open LMDB environment. */
export interface Environment {
  readonly tables: Readonly<Record<TableName, RawTable>>;
  /** The data file. */
  readonly file: string;
  /** How much of the file the newest transaction uses. */
  usage(): Usage;
  /** Queues the writes made inside `change` as one transaction. */
  batch(change: () => void): CommitPromise;
  /** Lets the next read see the newest snapshot, and nobody need an older one. */
  refresh(): void;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the LMDB environment in `folder`. Syncing always overlaps with later commits and is never left out: with it off, a power cut can
 * damage the file. A `readOnly` environment must exist with its tables.
 */
export function openEnvironment(folder: string, { readOnly = false }: { readOnly?: boolean } = {}): Environment {
  const root = lmdb.open<Uint8Array, StoredKey & string>({
    path: folder,
    encoding: 'binary',
    noSubdir: false,
    maxDbs: MAX_TABLES,
    mapSize: MAP_SIZE_BYTES,
    separateFlushed: true,
    // Batches are explicit here, and the promise of an implicit one rejects where nobody can see it.
    eventTurnBatching: false,
    ...(readOnly ? { readOnly } : { overlappingSync: true }),
  } as Parameters<typeof lmdb.open>[0]);
  const tables = {} as Record<TableName, RawTable>;
  for (const name of TABLE_NAMES) tables[name] = root.openDB({ name, encoding: 'binary' }) as unknown as RawTable;
  return {
    tables,
    file: join(folder, DATA_FILE),
    usage: () => root.getStats() as Usage,
    batch: (change) => root.batch(change) as CommitPromise,
    refresh: () => (root as unknown as { resetReadTxn(): void }).resetReadTxn(),
    // Page by page: a copy that leaves free pages out follows every reference, and a damaged one would end the process.
    backup: (path) => root.backup(path, false),
    close: () => root.close(),
  };
}
