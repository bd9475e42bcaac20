import { randomBytes } from 'node:crypto';
import { lstat, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { sharedBlobs } from '../find/hub-cache.js';

/** Files of the store lie in a folder that is called by the first two digits of their names. */
const STORED = /^([0-9a-f]{2})\/\1[0-9a-f]{62}$/;
/** A blob as the store's lists of links name it, relative to the cache. */
const LINK = /^(?:models|datasets|spaces|kernels)--[^/]+\/blobs\/[^/]+$/;

/** Says that the store is one, and of the layout that is known here. */
const MARKER = { name: '.huggingface-shared-blobs', text: '1\n' };
/** A file that was moved aside to be removed. */
const ASIDE = /^[0-9a-f]{64}\.[0-9a-f]{8}\.quern\.incomplete$/;
/** What is aside for longer was left by a process that ended meanwhile. */
const LEFT_MS = 3600 * 1000;

/** The file of the store that a blob is a link to; undefined for one that is none. Throws where that cannot be told. */
async function storedFile(cache: string, blob: string): Promise<string | undefined> {
  const target = await readlink(blob).catch((error: NodeJS.ErrnoException) => {
    // Not there, or no link.
    if (error.code === 'ENOENT' || error.code === 'EINVAL') return undefined;
    throw error;
  });
  if (target === undefined) return undefined;
  const file = resolve(join(blob, '..'), target);
  return STORED.test(
    relative(sharedBlobs(resolve(cache)), file)
      .split(sep)
      .join('/'),
  )
    ? file
    : undefined;
}

/** The files of the store that a repository's blobs are links to. */
export async function storedFiles(cache: string, folder: string): Promise<string[]> {
  const blobs = await readdir(join(folder, 'blobs')).catch(() => [] as string[]);
  const found = await Promise.all(blobs.map((name) => storedFile(cache, join(resolve(folder), 'blobs', name)).catch(() => undefined)));
  return [...new Set(found.filter((file) => file !== undefined))];
}

/** Whether no blob is a link to a file of the store, by the list beside it. Throws where the list, or a link, cannot be read: that proves nothing. */
async function isUnlinked(cache: string, file: string): Promise<boolean> {
  for (const line of (await readFile(`${file}.refs`, 'utf8')).split(/\r?\n/))
    if (LINK.test(line) && (await storedFile(cache, join(resolve(cache), line))) === file) return false;
  return true;
}

/** Removes a file of the store that no blob is a link to, and returns its size. Its list stays: another client may be writing to it. */
async function sweep(cache: string, file: string): Promise<number> {
  const facts = await lstat(file);
  if (!facts.isFile() || !(await isUnlinked(cache, file))) return 0;
  const aside = `${file}.${randomBytes(4).toString('hex')}.quern.incomplete`;
  await rename(file, aside);
  if (await isUnlinked(cache, file).catch(() => false)) {
    await rm(aside);
    return facts.size;
  }
  await rename(aside, file);
  return 0;
}

async function isStore(folder: string): Promise<boolean> {
  const facts = await lstat(folder).catch(() => null);
  return facts?.isDirectory() === true && (await readFile(join(folder, MARKER.name), 'utf8').catch(() => '')) === MARKER.text;
}

async function removeAsides(folder: string): Promise<void> {
  for (const inner of await readdir(folder)) {
    for (const name of await readdir(join(folder, inner)).catch(() => [])) {
      const path = join(folder, inner, name);
      const facts = ASIDE.test(name) ? await lstat(path).catch(() => null) : null;
      if (facts && Date.now() - facts.ctimeMs > LEFT_MS) await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

/**
 * Removes files of the store that no blob is a link to any more, and returns how many bytes that freed. Other clients hold `flock` meanwhile, which
 * Node lacks: a file is moved aside and looked at again, so that only a link which is made in that very moment leads nowhere, and is fetched anew.
 */
export async function sweepStore(cache: string, files: readonly string[]): Promise<number> {
  const folder = sharedBlobs(cache);
  if (!(await isStore(folder))) return 0;
  let freedBytes = 0;
  // Another client may just have removed a file, or it is another user's.
  for (const file of files) freedBytes += await sweep(cache, file).catch(() => 0);
  await removeAsides(folder).catch(() => undefined);
  return freedBytes;
}
