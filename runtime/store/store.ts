import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Health } from '../base/health.js';
import { log } from '../base/log.js';
import { Backups } from './backups.js';
import { DATA_FILE, type Environment, openEnvironment, type StoredKey } from './environment.js';
import { examine } from './examination.js';
import { markClean, openSound, repeatInLog, unseenDamage } from './integrity.js';
import { encodeRecord, sealRecord } from './record-bytes.js';
import { scrub } from './scrub.js';
import { StoreTables } from './table-reader.js';
import type { TableName, Tables } from './tables.js';
import { type Chain, type Change, Writer } from './writer.js';

export { alignedBytes, bytesOf } from './record-bytes.js';
/** Records that users of the store hold. */
export type * from './records.js';
export type { Chain } from './writer.js';

/** Collects the changes of one write. */
export class Batch {
  readonly changes: Change[] = [];

  /** Stores a value; what it refers to is encoded at once and may change afterwards. */
  put<Name extends TableName>(table: Name, key: Tables[Name]['key'], value: Tables[Name]['value']): void {
    this.changes.push({ table, key: key as StoredKey, value: sealRecord(table, key as StoredKey, encodeRecord(table, value)) });
  }

  /** Removes a record, if there is one. */
  remove<Name extends TableName>(table: Name, key: Tables[Name]['key']): void {
    this.changes.push({ table, key: key as StoredKey, value: undefined });
  }
}

/** Everything but configuration and uploads: typed tables in one LMDB environment under `{dataDir}/state`. */
export class Store extends StoreTables {
  readonly #environment: Environment;
  readonly #writer: Writer;
  readonly #folder: string;
  readonly #backups: Backups;
  #closing: Promise<void> | undefined;
  #scrubbing: Promise<unknown> = Promise.resolve();
  #nextScrub: Promise<void> | undefined;
  /** Why the last write failed or was not begun; undefined when neither is so. */
  #trouble: string | undefined;
  /** What was found to be damaged since the store was opened. */
  #damage: string | undefined;
  #endLog: () => void;

  /** Use `openStore`. */
  constructor(environment: Environment, folder: string) {
    super(environment);
    this.#environment = environment;
    this.#folder = folder;
    this.#writer = new Writer(environment);
    this.#backups = new Backups(environment, folder, { written: () => this.counts.written, damaged: (reason) => this.damaged(reason) });
    this.#endLog = repeatInLog(() => this.#openDamage());
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
    await this.#withTrouble(this.#writer.write(batch.changes, chain));
    this.#trouble = undefined;
    this.counts.written += batch.changes.length;
  }

  /**
   * Sees to it that a value of about `sizeBytes` can be stored soon, so that work whose result could not be kept is not begun. Rejects as
   * `write` does; a write may still fail when others take the space meanwhile.
   */
  expect(sizeBytes: number): Promise<void> {
    return this.#withTrouble(this.#writer.expect(sizeBytes));
  }

  /**
   * What `/health` says: unhealthy from a write that failed, or for which there was no space, until one succeeds; degraded while a damaged file
   * waits for a person to see to it.
   */
  health(): Health {
    if (this.#trouble !== undefined) return { status: 'unhealthy', message: this.#trouble };
    const damage = this.#openDamage();
    if (damage !== undefined) return { status: 'degraded', message: damage };
    return { status: 'healthy', message: `the state store in ${this.#folder} works` };
  }

  /** How often the file was repaired: what is made of its records and lies beside them may lack some since. */
  get repairs(): number {
    return this.meta.get('repairs') ?? 0;
  }

  /** Copies the store into its backup folder now; the newest `kept` are kept. Returns the copy's path. */
  backup(kept?: number): Promise<string> {
    return this.#backups.make(kept);
  }

  /**
   * Overwrites what removed records have left in the file, which LMDB does not, and puts a new copy in the place of the backups. Writes wait meanwhile.
   * Throws `disk_full` where there is no room for the copy; the backups then stay. Callers that come before it begins share one.
   */
  scrub(): Promise<void> {
    this.#nextScrub ??= this.#scrubbing.then(async () => {
      this.#nextScrub = undefined;
      await this.#withTrouble(scrub(this.#writer, this.#environment));
      await this.backup(1);
    });
    this.#scrubbing = this.#nextScrub.catch(() => undefined);
    return this.#nextScrub;
  }

  /** Makes a copy now and then while the store is open; failures are logged. */
  startBackups(lookEveryMs?: number): void {
    this.#backups.start(lookEveryMs);
  }

  /** Writes what waits, flushes, and notes that the files are sound. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Notes that something in the file is damaged: `/health` and the log say so from now on. */
  protected override damaged(reason: string): void {
    if (this.#damage !== undefined) return;
    this.#damage = `The state file in ${this.#folder} is damaged (${reason}). Start the daemon again: it then repairs the file and says what was lost.`;
    log('error', this.#damage);
  }

  async #withTrouble(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (failure) {
      this.#trouble = (failure as Error).message;
      throw failure;
    }
  }

  #openDamage(): string | undefined {
    return this.#damage ?? unseenDamage(this.#folder);
  }

  async #close(): Promise<void> {
    this.#endLog();
    await this.#backups.stop();
    await this.#writer.close();
    await this.#environment.close();
    if (this.#damage === undefined) markClean(this.#folder);
  }
}

/** Brings a store from one format version to the next. It may be cut short and run again, so it must not assume untouched records. */
type Migration = (store: Store) => Promise<void>;

/** From version 1 to 2, from 2 to 3, and so on; the format version of this program is one more than their number. */
const MIGRATIONS: readonly Migration[] = [
  // Adds the tables of tasks and of retrieval, which start empty. A program that does not know them would leave unfinished tasks lying.
  () => Promise.resolve(),
  // Records that are written from now on have seals, which a program of format 2 cannot read. Older records are read without.
  () => Promise.resolve(),
];

/** Runs the migrations that a store lacks, after a backup. Throws `conflict` (StateTooNew) when a newer program wrote it. */
async function migrate(store: Store, folder: string, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const newest = migrations.length + 1;
  const found = store.meta.get('version');
  if (found === undefined) {
    await store.write((batch) => batch.put('meta', 'version', newest));
    return;
  }
  if (found > newest) {
    throw new Failure(
      'conflict',
      `The state in ${folder} has format ${found}, and this version knows formats up to ${newest}. Start the newer version again, or move that folder away to begin without its sessions.`,
      { code: 'StateTooNew' },
    );
  }
  if (found === newest) return;
  const backup = await store.backup();
  log('info', 'the state store is brought up to date', { from: found, to: newest, backup });
  for (let version = found; version < newest; version += 1) {
    await migrations[version - 1]!(store);
    await store.write((batch) => batch.put('meta', 'version', version + 1));
  }
}

/** How a store is opened in tests. */
interface StoreOptions {
  migrations?: readonly Migration[];
  /** Milliseconds until the first look whether a copy is due. */
  backupAfterMs?: number;
}

/** The folder of a data directory that holds the store. */
export const STATE_FOLDER = 'state';
/** The data file in that folder. */
export const STATE_FILE = DATA_FILE;

function stateFolder(dataDir: string): string {
  return join(dataDir, STATE_FOLDER);
}

/**
 * Copies the store of a data directory as it is at one moment into the folder of that name below `target`, also while another process writes to it. Throws
 * `internal` for a damaged one.
 */
export async function copyState(dataDir: string, target: string): Promise<void> {
  const folder = join(target, STATE_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const environment = openEnvironment(stateFolder(dataDir), { readOnly: true });
  try {
    await environment.backup(folder);
  } finally {
    await environment.close();
  }
  const { problems } = await examine(join(folder, DATA_FILE));
  if (problems.length > 0) throw new Failure('internal', `The state in ${dataDir} is damaged and cannot be copied: ${problems[0]}.`);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new Failure('unavailable', `${folder} is no folder, and should hold the state store: move it away and start again.`, { cause });
  }
}

/**
 * Opens the store of a data directory, or makes it. A store that was not closed is checked first; a damaged one is moved aside, loudly, and
 * replaced by what can be read of it or its newest backup. Older formats are brought up to date after a backup; throws `conflict` (StateTooNew)
 * for a newer one. The caller sees to it that one process at a time has the data directory.
 */
export async function openStore(dataDir: string, { migrations, backupAfterMs }: StoreOptions = {}): Promise<Store> {
  const folder = stateFolder(dataDir);
  makeFolder(folder);
  const { environment, isRepaired } = await openSound(folder, openEnvironment);
  const store = new Store(environment, folder);
  try {
    await migrate(store, folder, migrations);
    if (isRepaired) await store.write((batch) => batch.put('meta', 'repairs', store.repairs + 1));
  } catch (failure) {
    await store.close();
    throw failure;
  }
  store.startBackups(backupAfterMs);
  return store;
}
