import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { fileFailure, flushDirectory, OWN_FILE, writeFlushed } from '../base/durable-files.js';

/** Backups kept per project; older ones are removed. */
export const MAX_BACKUPS = 20;

/** Backups that one second can hold. */
const MAX_SAME_SECOND = 999;

/**
 * Replaces (or makes) a file so that a crash at any point leaves the old or the new content, never a mixture: temporary file beside it, flushed,
 * renamed over it, directory flushed. The former file stays as `<stem>.<YYYYMMDD_HHMMSS><ext>` (UTC). The caller sees to it that no two calls
 * work on one file at a time. Throws `disk_full`, `forbidden` or what the file system throws; the file is then as it was.
 */
export async function replaceFile(path: string, text: string, now: Date = new Date()): Promise<void> {
  const directory = dirname(path);
  await removeLeftovers(path);
  const mode = (await stat(path).catch(() => null))?.mode;
  const temporary = join(directory, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  let backup: string | null = null;
  try {
    await writeFlushed(temporary, text, mode === undefined ? OWN_FILE : mode & 0o777);
    if (mode !== undefined) backup = await backUp(path, now);
    await rename(temporary, path);
  } catch (cause) {
    await unlink(temporary).catch(() => undefined);
    if (backup !== null) await unlink(backup).catch(() => undefined);
    throw fileFailure(cause, `write ${basename(path)}`);
  }
  await flushDirectory(directory);
  await pruneBackups(path, backup);
}

/** Gives the current file a second, dated name; a hard link where the file system has them, so that it costs no space. */
async function backUp(path: string, now: Date): Promise<string> {
  const time = now.toISOString().replace(/[-:]/g, '').replace('T', '_').slice(0, 15);
  // Counted on from the highest, not filled up from the lowest: the order of names is the order of age.
  const ofThisSecond = (await backupsOf(path)).filter((name) => timeOf(name).startsWith(time));
  const last = ofThisSecond.at(-1);
  const number = last === undefined ? 1 : Number(timeOf(last).slice(time.length + 1) || 1) + 1;
  if (number > MAX_SAME_SECOND)
    throw new Failure('busy', `Could not write ${basename(path)}: it was replaced ${MAX_SAME_SECOND} times within one second.`);
  const suffix = number === 1 ? '' : `_${String(number).padStart(3, '0')}`;
  const backup = join(dirname(path), `${stemOf(path)}.${time}${suffix}${extname(path)}`);
  await link(path, backup).catch(() => copyFile(path, backup, constants.COPYFILE_EXCL));
  return backup;
}

/** The names of the dated backups of a file, oldest first. */
export async function backupsOf(path: string): Promise<string[]> {
  const pattern = new RegExp(`^${stemOf(path)}\\.\\d{8}_\\d{6}(?:_\\d{3})?\\${extname(path)}$`);
  const names = (await readdir(dirname(path))).filter((name) => pattern.test(name));
  return names.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
}

/** The dated part of a backup's name, with the number that follows where there were several in one second. */
function timeOf(name: string): string {
  return name.slice(name.indexOf('.') + 1, -extname(name).length);
}

/** Removes the oldest backups, but never the newest one, which a clock set back can make look old. */
async function pruneBackups(path: string, newest: string | null): Promise<void> {
  const names = await backupsOf(path).catch(() => []);
  for (const name of names.slice(0, Math.max(0, names.length - MAX_BACKUPS))) {
    if (newest === null || name !== basename(newest)) await unlink(join(dirname(path), name)).catch(() => undefined);
  }
}

/** Removes what an earlier process left behind when it died before its rename. */
async function removeLeftovers(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names) {
    if (name.startsWith(`.${basename(path)}.`) && name.endsWith('.tmp')) await unlink(join(dirname(path), name)).catch(() => undefined);
  }
}

function stemOf(path: string): string {
  return basename(path, extname(path));
}
