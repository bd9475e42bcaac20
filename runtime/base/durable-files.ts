import { randomBytes } from 'node:crypto';
import { chmod, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';

/** Rights of a new file: it may hold keys, or what was learned from private data. */
export const OWN_FILE = 0o600;
const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** Turns a file system error into a `Failure` where the caller can do something about it: a full disk or missing rights. */
export function fileFailure(cause: unknown, doing: string): unknown {
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new Failure('disk_full', `Could not ${doing}: the disk is full (${code}). Free some space and try again; nothing was changed.`, {
      cause,
    });
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new Failure('forbidden', `Could not ${doing}: permission denied (${code}). Check who owns the data directory.`, { cause });
  }
  return cause;
}

/** Writes a new file and waits until its bytes are on the disk. */
export async function writeFlushed(path: string, text: string, mode: number = OWN_FILE): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  // The process's umask narrowed the mode given to `open`.
  await chmod(path, mode);
}

/** Beside a file, for what will take its place. */
const temporaryOf = (path: string): string => join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);

/**
 * Makes or replaces a file of text so that a crash leaves the old or the new one; which of them, `flushDirectory` decides. Throws what the file system
 * throws; the old file is then as it was.
 */
export async function replaceText(path: string, text: string): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    await writeFlushed(temporary, text);
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cause;
  }
}

/** Makes renames in a directory durable; a file system that cannot flush directories is left alone. */
export async function flushDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/**
 * Makes or replaces a file so that a crash at any point leaves the old or the new one: temporary file beside it, flushed, renamed, folder
 * flushed. The file bears the time `at`, now unless given. Throws `disk_full`, `forbidden` or what the file system throws; the old file is then as it was.
 */
export async function placeFile(path: string, pieces: Iterable<Uint8Array>, at?: Date): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    const file = await open(temporary, 'wx', OWN_FILE);
    try {
      await writeFile(file, pieces);
      if (at) await file.utimes(at, at);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw fileFailure(cause, `write ${basename(path)}`);
  }
  await flushDirectory(dirname(path));
}

/** Removes what a process left behind in a folder when it died before its rename. To be called before the first `placeFile` there. */
export async function removeUnplaced(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (TEMPORARY.test(name)) await rm(join(folder, name), { force: true });
}
