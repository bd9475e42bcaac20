import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { copyFile, mkdir, open, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileFailure, flushDirectory, writeFlushed } from '../../../runtime/base/durable-files.js';
import { humanSize } from '../../../runtime/base/files.js';
import { Failure } from '../../../schemas/errors.js';
import { lockDataDir } from '../data-directory.js';
import { hashOf } from './backup.js';
import { backupsBelow, isKept, MANIFEST, type Manifest, MODELS, RESTORE_MARK, readManifest, TRAINED } from './manifest.js';

const ARRIVING = 'restore-';
const ASIDE = 'before-';
/** Beside what is copied, so much stays free. */
const SPARE_BYTES = 64 * 1024 ** 2;

/** A restore that was done. */
export interface Restored {
  readonly from: string;
  readonly files: number;
  readonly bytes: number;
  /** Where what was there before lies now; null where nothing was. */
  readonly aside: string | null;
}

/**
 * Puts a backup in the place of what a data directory holds; that is kept in `before-<time>` in it. Everything is copied and compared first: until the mark is
 * written the data directory stays as it was, and from then on the next start finishes what a crash cut short. `from` is a backup, or a folder of backups, of
 * which the newest is taken. Throws `busy` while a daemon runs, `invalid` and `conflict` for backups that cannot be used, `disk_full` with nothing changed.
 */
export async function restoreBackup(from: string, dataDir: string, onFile: (path: string) => void = () => {}): Promise<Restored> {
  const backup = existsSync(join(from, MANIFEST)) ? from : (backupsBelow(from)[0] ?? from);
  const manifest = readManifest(backup);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const lock = lockDataDir(dataDir);
  const arriving = join(dataDir, `${ARRIVING}${randomBytes(4).toString('hex')}`);
  try {
    finishRestore(dataDir);
    requireRoom(dataDir, bytes);
    await copyAll(backup, manifest, arriving, onFile);
    const coming = entriesOf(arriving, () => true);
    const leaving = entriesOf(dataDir, (model) => TRAINED.has(model) || coming.includes(`${MODELS}/${model}`));
    requireMovable(dataDir, leaving);
    const aside = `${ASIDE}${new Date().toISOString().replaceAll(/[-:]|\.\d+Z$/g, '')}`;
    await writeMark(dataDir, { arriving: basename(arriving), aside, leaving, coming });
    finishRestore(dataDir);
    return { from: backup, files: manifest.files.length, bytes, aside: leaving.length > 0 ? join(dataDir, aside) : null };
  } catch (cause) {
    if (!existsSync(join(dataDir, RESTORE_MARK))) rmSync(arriving, { recursive: true, force: true });
    throw fileFailure(cause, `restore into ${dataDir}`);
  } finally {
    lock.release();
  }
}

function requireRoom(dataDir: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  if (free < bytes + SPARE_BYTES)
    throw new Failure(
      'disk_full',
      `the backup has ${humanSize(bytes)} and ${dataDir} has room for ${humanSize(free)}: free some space; nothing was changed.`,
    );
}

/** Copies a backup and compares each file with what the manifest says of it. */
async function copyAll(backup: string, { files, links }: Manifest, arriving: string, onFile: (path: string) => void): Promise<void> {
  mkdirSync(arriving, { mode: 0o700 });
  const folders = new Set<string>([arriving]);
  for (const { path, bytes, sha256 } of files) {
    const to = join(arriving, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    folders.add(dirname(to));
    await copyFile(join(backup, path), to).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      throw new Failure('invalid', `the backup ${backup} lacks its file ${path}: take another one; nothing was changed.`, { cause });
    });
    const found = await hashOf(to);
    if (found?.bytes !== bytes || found.sha256 !== sha256)
      throw new Failure(
        'invalid',
        `${path} in ${backup} is not what was backed up: its disk may be failing; take another backup. Nothing was changed.`,
      );
    const file = await open(to, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    onFile(path);
  }
  // After the files, so that none is written through a link.
  for (const { path, target } of links) {
    await mkdir(dirname(join(arriving, path)), { recursive: true, mode: 0o700 });
    await symlink(target, join(arriving, path));
  }
  for (const folder of folders) await flushDirectory(folder);
}

/** What is still to be moved. Names are relative to the data directory, and those of models have the name of their folder before them. */
interface Mark {
  readonly arriving: string;
  readonly aside: string;
  readonly leaving: readonly string[];
  readonly coming: readonly string[];
}

async function writeMark(dataDir: string, mark: Mark): Promise<void> {
  const written = join(dataDir, `${ARRIVING}mark`);
  await writeFlushed(written, JSON.stringify(mark));
  renameSync(written, join(dataDir, RESTORE_MARK));
  await flushDirectory(dataDir);
}

/** What of a folder a restore moves: what backups are about, and of the folder of models what `isModel` says. */
function entriesOf(folder: string, isModel: (name: string) => boolean): string[] {
  return readdirSync(folder).flatMap((name) => {
    if (!isKept(name)) return [];
    if (name !== MODELS) return [name];
    return readdirSync(join(folder, name)).flatMap((model) => (isModel(model) ? [`${name}/${model}`] : []));
  });
}

/** Throws for what lies on another file system, such as a folder that is mounted: it cannot be moved in one step. */
function requireMovable(dataDir: string, names: readonly string[]): void {
  const { dev } = statSync(dataDir);
  const other = names.find((name) => lstatSync(join(dataDir, name)).dev !== dev);
  if (other !== undefined)
    throw new Failure(
      'conflict',
      `${join(dataDir, other)} is mounted from another file system and cannot be moved aside: unmount it first; nothing was changed.`,
    );
}

/**
 * Finishes a restore that was complete and not yet in its place, and removes what is left of one that was not complete. Each step can be done again. The caller
 * holds the lock of the data directory.
 */
export function finishRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORE_MARK))) {
    for (const name of readdirSync(dataDir)) if (name.startsWith(ARRIVING)) rmSync(join(dataDir, name), { recursive: true, force: true });
    return;
  }
  const mark = JSON.parse(readFileSync(join(dataDir, RESTORE_MARK), 'utf8')) as Mark;
  const [arriving, aside] = [join(dataDir, mark.arriving), join(dataDir, mark.aside)];
  // Nothing comes before all that leaves is aside, so an entry that is not aside is an old one.
  for (const name of mark.leaving) moveOnce(join(dataDir, name), join(aside, name));
  if (existsSync(aside)) flush(aside);
  for (const name of mark.coming) if (existsSync(join(arriving, name))) moveOnce(join(arriving, name), join(dataDir, name));
  flush(dataDir);
  rmSync(arriving, { recursive: true, force: true });
  rmSync(join(dataDir, RESTORE_MARK));
}

/** Moves an entry unless that was done before. */
function moveOnce(from: string, to: string): void {
  if (lstatSync(to, { throwIfNoEntry: false }) || !lstatSync(from, { throwIfNoEntry: false })) return;
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  renameSync(from, to);
}

/** Waits until the names of a folder are on the disk. */
function flush(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
