import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileFailure, flushDirectory } from '../config/atomic-write.js';

/** Rights of a model's files: they hold what was learned from private rows. */
const MODE = 0o600;
const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;

/**
 * Makes or replaces a file so that a crash at any point leaves the old or the new one: temporary file beside it, flushed, renamed, folder
 * flushed. The file bears the time `at`, now unless given. Throws `disk_full`, `forbidden` or what the file system throws; the old file is then as it was.
 */
export async function placeFile(path: string, pieces: Iterable<Uint8Array>, at?: Date): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', MODE);
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
