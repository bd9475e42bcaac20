import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { copyFile, link, lstat, mkdir, open, readdir, readlink } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fileFailure, flushDirectory } from '../../../runtime/base/durable-files.js';
import { isAlive } from '../../../runtime/hosts/processes.js';
import { copyState, STATE_FILE, STATE_FOLDER } from '../../../runtime/store/store.js';
import { Failure } from '../../../schemas/errors.js';
import { VERSION } from '../options.js';
import {
  BACKUP_FORMAT,
  isKept,
  type KeptFile,
  type KeptLink,
  MANIFEST,
  type Manifest,
  MODELS,
  newestBackup,
  RESTORE_MARK,
  TRAINED,
} from './manifest.js';

/** A file that is being written. */
const UNFINISHED = /^\.[^/]*\.tmp$/;
/** Where the databases of accounts lie; others that somebody stores are documents. */
const DATABASES = 'accounts/';
/** What lies beside a SQLite database while it is open. */
const JOURNAL = /-(?:wal|shm|journal)$/;
const SQLITE = 'SQLite format 3\0';
/** A backup that is being made: when it was begun, and the process that makes it. */
const PART = /^\.\d{8}T\d{6}\.(\d+)\.[0-9a-f]{8}\.part$/;
/** Beside the copy of the state, so much stays free. */
const SPARE_BYTES = 1024 ** 2;
const CHUNK_BYTES = 1024 ** 2;

/** How a backup is made. */
export interface BackupOptions {
  /** Also models that were put into the data directory; without it only those that were trained here. */
  readonly withModels: boolean;
  /** Told after each file. */
  onFile?(path: string): void;
}

/** A backup that was made. */
export interface MadeBackup {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** Files that have not changed since the backup before, and share its bytes on the disk. */
  readonly shared: number;
}

/**
 * Copies what is in a data directory into a new folder below `target`, also while a daemon works on it. The order makes it whole: files first, then the state
 * as it was at one moment, then the files that came meanwhile. A copy that is cut short has no manifest, and the next one removes it. Files that have
 * not changed since the newest backup in `target` become links to it. Throws `disk_full` and `forbidden` with nothing left behind.
 */
export async function makeBackup(dataDir: string, target: string, options: BackupOptions): Promise<MadeBackup> {
  if (!existsSync(join(dataDir, STATE_FOLDER)))
    throw new Failure('not_found', `${dataDir} is no data directory of Quern; name another with --data-dir.`);
  if (existsSync(join(dataDir, RESTORE_MARK)))
    throw new Failure('busy', `a restore of ${dataDir} was cut short: start the daemon once, which finishes it, and back up then.`);
  if (`${realPlace(target)}${sep}`.startsWith(`${realPlace(dataDir)}${sep}`))
    throw new Failure(
      'bad_request',
      `${target} lies in the data directory: a backup belongs on another disk, or at least into another folder.`,
    );
  try {
    // Where the folder above is there, it is made without asking for those above, which some file systems never end to refuse.
    if (!existsSync(target)) mkdirSync(target, { recursive: !existsSync(dirname(resolve(target))), mode: 0o700 });
    await removeUnfinished(target);
    const name = new Date().toISOString().replaceAll(/[-:]|\.\d+Z$/g, '');
    const partial = join(target, `.${name}.${process.pid}.${randomBytes(4).toString('hex')}.part`);
    mkdirSync(partial, { mode: 0o700 });
    try {
      const made = await new BackupWork(dataDir, partial, options, newestBackup(target)).run();
      const path = freeName(join(target, name));
      renameSync(partial, path);
      await flushDirectory(target);
      return { path, ...made };
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      throw error;
    }
  } catch (cause) {
    const failure = fileFailure(cause, `write the backup to ${target}`);
    if (failure instanceof Failure || (failure as NodeJS.ErrnoException).code === undefined) throw failure;
    throw new Failure('unavailable', `Could not write the backup to ${target}: ${(failure as Error).message}`, { cause });
  }
}

const freeName = (path: string, more = 1): string => {
  const name = more === 1 ? path : `${path}-${more}`;
  return existsSync(name) ? freeName(path, more + 1) : name;
};

/** Removes what backups left that did not end; one that is being made stays. */
async function removeUnfinished(target: string): Promise<void> {
  for (const name of await readdir(target)) {
    const pid = PART.exec(name)?.[1];
    if (pid !== undefined && !isAlive({ pid: Number(pid), started: '' })) rmSync(join(target, name), { recursive: true, force: true });
  }
}

/** A path without links, also where it is not there yet. */
function realPlace(path: string): string {
  const whole = resolve(path);
  return existsSync(whole) || dirname(whole) === whole ? realpathSync(whole) : join(realPlace(dirname(whole)), basename(whole));
}

class BackupWork {
  readonly #dataDir: string;
  readonly #target: string;
  readonly #options: BackupOptions;
  readonly #before: string | undefined;
  readonly #known: ReadonlyMap<string, KeptFile>;
  readonly #files = new Map<string, KeptFile>();
  readonly #links = new Map<string, KeptLink>();
  #shared = 0;

  constructor(dataDir: string, target: string, options: BackupOptions, before: { path: string; manifest: Manifest } | undefined) {
    this.#dataDir = dataDir;
    this.#target = target;
    this.#options = options;
    this.#before = before?.path;
    this.#known = new Map((before?.manifest.files ?? []).map((file) => [file.path, file]));
  }

  async run(): Promise<Omit<MadeBackup, 'path'>> {
    await this.#keepBelow('');
    this.#requireRoomForState();
    await copyState(this.#dataDir, this.#target);
    await this.#noteState(STATE_FOLDER);
    await this.#keepBelow('');
    const files = [...this.#files.values()];
    const manifest: Manifest = {
      format: BACKUP_FORMAT,
      version: VERSION,
      madeAt: new Date().toISOString(),
      files,
      links: [...this.#links.values()],
    };
    const file = await open(join(this.#target, MANIFEST), 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify(manifest));
      await file.sync();
    } finally {
      await file.close();
    }
    return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), shared: this.#shared };
  }

  /** LMDB cannot tell of a full disk without harm to its process. */
  #requireRoomForState(): void {
    const { bavail, bsize } = statfsSync(this.#target);
    const { size } = statSync(join(this.#dataDir, STATE_FOLDER, STATE_FILE));
    if (bavail * bsize < size + SPARE_BYTES) throw Object.assign(new Error('no room for the state'), { code: 'ENOSPC' });
  }

  #isLeftOut(path: string): boolean {
    const [top = '', second] = path.split('/');
    if (top === STATE_FOLDER || !isKept(top)) return true;
    return top === MODELS && second !== undefined && !this.#options.withModels && !TRAINED.has(second);
  }

  async #keepBelow(folder: string): Promise<void> {
    const names = await readdir(join(this.#dataDir, folder)).catch(gone([]));
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (UNFINISHED.test(name) || this.#isLeftOut(path)) continue;
      const stats = await lstat(join(this.#dataDir, path)).catch(gone(null));
      if (stats?.isDirectory()) await this.#keepBelow(path);
      else if (stats?.isSymbolicLink()) await this.#keepLink(path);
      else if (stats?.isFile() && this.#files.get(path)?.changedMs !== stats.mtimeMs) await this.#keep(path, stats.mtimeMs);
    }
  }

  /** A database of accounts as it is at one moment, with what its journal holds. */
  async #keepDatabase(path: string): Promise<void> {
    const to = join(this.#target, path);
    const { libsqlSource } = await import('../../../accounts/database/dialects/libsql.js');
    const source = libsqlSource(`file:${join(this.#dataDir, path)}`);
    try {
      await source.run('vacuum into ?', [to]);
    } catch (cause) {
      if ((cause as { code?: unknown }).code === 'SQLITE_FULL')
        throw Object.assign(new Error('the disk is full', { cause }), { code: 'ENOSPC' });
      throw cause;
    } finally {
      await source.close();
    }
    this.#files.set(path, { path, changedMs: 0, ...(await hashOf(to))! });
  }

  async #keepLink(path: string): Promise<void> {
    const target = await readlink(join(this.#dataDir, path)).catch(gone(null));
    if (target !== null) this.#links.set(path, { path, target });
  }

  async #keep(path: string, changedMs: number): Promise<void> {
    const [from, to] = [join(this.#dataDir, path), join(this.#target, path)];
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    // It changed while the state was copied.
    if (this.#files.has(path)) rmSync(to);
    if (path.startsWith(DATABASES)) {
      if (JOURNAL.test(path)) return;
      if (await isDatabase(from)) return this.#keepDatabase(path);
    }
    const known = this.#known.get(path);
    const { size } = (await lstat(from).catch(gone(null))) ?? {};
    if (known && known.changedMs === changedMs && known.bytes === size && (await isLinked(join(this.#before!, path), to))) {
      this.#files.set(path, known);
      this.#shared += 1;
    } else {
      const copied = await copyWithHash(from, to);
      if (copied) this.#files.set(path, { path, changedMs, ...copied });
    }
    this.#options.onFile?.(path);
  }

  /** The copy of the state is new each time. */
  async #noteState(folder: string): Promise<void> {
    for (const name of await readdir(join(this.#target, folder))) {
      const path = `${folder}/${name}`;
      const { bytes, sha256 } = (await hashOf(join(this.#target, path)))!;
      this.#files.set(path, { path, bytes, sha256, changedMs: 0 });
      this.#options.onFile?.(path);
    }
  }
}

/** For what a daemon removed between the look at a folder and the reading. */
const gone =
  <V>(value: V) =>
  (error: NodeJS.ErrnoException): V => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return value;
    throw error;
  };

async function isDatabase(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(gone(null));
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE.length), 0, SQLITE.length, 0);
    return bytesRead === SQLITE.length && buffer.toString('latin1') === SQLITE;
  } finally {
    await file.close();
  }
}

/** Links a file; false where the file system cannot, or the file is gone. */
async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch {
    return false;
  }
}

/** Copies a file to the disk; null where it is gone. */
async function copyWithHash(from: string, to: string): Promise<Pick<KeptFile, 'bytes' | 'sha256'> | null> {
  const copied = await copyFile(from, to).then(() => true, gone(false));
  if (!copied) return null;
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return hashOf(to);
}

/** The size and SHA-256 of a file; null where there is none. */
export async function hashOf(path: string): Promise<Pick<KeptFile, 'bytes' | 'sha256'> | null> {
  const file = await open(path, 'r').catch(gone(null));
  if (file === null) return null;
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let bytes = 0;
  try {
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      hash.update(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}
