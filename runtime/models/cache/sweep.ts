import { randomBytes } from 'node:crypto';
import { lstat, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { log } from '../../base/log.js';
import { cachedRepositories, sharedBlobs } from '../find/hub-cache.js';
import { lockFile, type RemoteFile, RepositoryLayout } from './layout.js';

/** A repository where something changed within this time may be one that some program still downloads. */
const QUIET_MS = 24 * 3600 * 1000;

/** A blob, or what a download of ours leaves when it is cut short. What other programs have not finished has other names. */
const OURS = /^([0-9a-f]{40}|[0-9a-f]{64})(?:(?:\.[0-9a-f]{8})?\.quern\.incomplete(?:\.parts)?)?$/;

/** How long the lock of a blob is waited for before the blob is left alone; the lock of a dead process is taken over within it. */
const LOCK_WAIT_MS = 500;

/**
 * Removes from the hub cache what downloads that were cut short have left there: blobs that no snapshot shows, and unfinished files of ours, in
 * repositories where nothing has changed for a day. Other programs share the cache: what they have not finished, what a download has locked, and
 * what is shown by links of another kind stays. `nowMs` is the time to measure ages by. Returns the bytes that this freed. Never rejects.
 */
export async function sweepCache(cache: string, signal: AbortSignal, nowMs = Date.now()): Promise<number> {
  let freedBytes = 0;
  for (const repository of await cachedRepositories(cache)) {
    const layout = new RepositoryLayout(cache, repository);
    const isFolder = await lstat(layout.folder).then(
      (facts) => facts.isDirectory(),
      () => false,
    );
    if (!isFolder || signal.aborted) continue;
    const changed = await Promise.all([layout.blobs, layout.locks, layout.snapshots].map(newestMs));
    if (nowMs - Math.max(...changed) < QUIET_MS) continue;
    for (const name of await unshownBlobs(layout)) {
      if (signal.aborted) break;
      // It may be another user's, or locked.
      freedBytes += await removeBlob(layout, name).catch(() => 0);
    }
  }
  if (freedBytes > 0) log('info', 'removed from the model cache what no snapshot shows', { cache, bytes: freedBytes });
  return freedBytes;
}

/** Removes what unfinished downloads of ours have of these files, unless another one has locked it, and the folders that are empty then. Never rejects. */
export async function removeUnfinished(layout: RepositoryLayout, files: readonly RemoteFile[]): Promise<void> {
  for (const { etag } of files) {
    const release = await lockFile(layout.lock(etag), AbortSignal.timeout(LOCK_WAIT_MS)).catch(() => undefined);
    if (!release) continue;
    const half = layout.incomplete(etag);
    for (const path of [half, `${half}.parts`]) await rm(path, { force: true }).catch(() => undefined);
    await release();
  }
  await layout.removeEmpty();
}

/** When a file or folder was changed last, in milliseconds since 1970; 0 for what is not there. */
async function changedMs(path: string): Promise<number> {
  const facts = await lstat(path).catch(() => null);
  return facts ? Math.max(facts.mtimeMs, facts.ctimeMs) : 0;
}

/** When anything in a folder was changed last. */
async function newestMs(folder: string): Promise<number> {
  let newest = await changedMs(folder);
  for (const name of await readdir(folder).catch(() => [])) newest = Math.max(newest, await changedMs(join(folder, name)));
  return newest;
}

/**
 * The blobs that snapshots of a repository show. Undefined where that cannot be told, as on a file system without links, where snapshots have
 * files of their own.
 */
async function shownBlobs({ folder }: RepositoryLayout): Promise<ReadonlySet<string> | undefined> {
  const entries = await readdir(join(folder, 'snapshots'), { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? [] : undefined),
  );
  const shown = new Set<string>();
  for (const entry of entries ?? []) {
    if (entry.isDirectory()) continue;
    const target = await readlink(join(entry.parentPath, entry.name)).catch(() => undefined);
    if (target === undefined) return undefined;
    shown.add(resolve(entry.parentPath, target));
  }
  return entries && shown;
}

/** The names of blobs, whole ones and our unfinished ones, that no snapshot shows. None where that cannot be told. */
async function unshownBlobs(layout: RepositoryLayout): Promise<string[]> {
  const shown = await shownBlobs(layout);
  if (!shown) return [];
  const entries = await readdir(layout.blobs, { withFileTypes: true }).catch(() => []);
  // A link leads to the store that all repositories share, and is another program's.
  return entries
    .filter((entry) => entry.isFile() && OURS.test(entry.name) && !shown.has(resolve(layout.blobs, entry.name)))
    .map(({ name }) => name);
}

/** Removes a blob that no snapshot shows, unless a download has locked it or a program shows it in this very moment. Returns its size. */
async function removeBlob(layout: RepositoryLayout, name: string): Promise<number> {
  const [, etag] = OURS.exec(name)!;
  const release = await lockFile(layout.lock(etag!), AbortSignal.timeout(LOCK_WAIT_MS));
  try {
    const path = join(layout.blobs, name);
    const aside = layout.incomplete(`${etag}.${randomBytes(4).toString('hex')}`);
    const { size } = await lstat(path);
    await rename(path, aside);
    // A program that saw the blob may have made its link before the blob was moved; with its file gone that link is listed all the same.
    const shown = await shownBlobs(layout);
    if (shown && !shown.has(resolve(path))) {
      await rm(aside);
      return size;
    }
    await rename(aside, path);
    return 0;
  } finally {
    await release();
  }
}

/** Files of the store lie in a folder that is called by the first two digits of their names. */
const STORED = /^([0-9a-f]{2})\/\1[0-9a-f]{62}$/;

/** A blob as the store's lists of links name it, relative to the cache. */
const LINK = /^(?:models|datasets|spaces|kernels)--[^/]+\/blobs\/[^/]+$/;

/** Says that the store is one, and of the layout that is known here. */
const MARKER = { name: '.huggingface-shared-blobs', text: '1\n' };

/** A file that was moved aside to be removed. */
const MOVED_AWAY = /^[0-9a-f]{64}\.[0-9a-f]{8}\.quern\.incomplete$/;

/** What is aside for longer was left by a process that ended meanwhile. */
const LEFT_MS = 3600 * 1000;

/**
 * Removes files of the store that no blob is a link to any more, and returns how many bytes that freed. Other clients hold `flock` meanwhile, which
 * Node lacks: a file is moved aside and looked at again, so that only a link which is made in that very moment leads nowhere, and is fetched anew.
 */
export async function sweepStore(cache: string, files: readonly string[]): Promise<number> {
  const folder = sharedBlobs(cache);
  if (!(await isStore(folder))) return 0;
  let freedBytes = 0;
  // Another client may just have removed a file, or it is another user's.
  for (const file of files) freedBytes += await sweepStoredFile(cache, file).catch(() => 0);
  await removeMovedAway(folder).catch(() => undefined);
  return freedBytes;
}

/** The files of the store that a repository's blobs are links to. */
export async function storedFiles(cache: string, folder: string): Promise<string[]> {
  const blobs = await readdir(join(folder, 'blobs')).catch(() => [] as string[]);
  const found = await Promise.all(blobs.map((name) => storedFile(cache, join(resolve(folder), 'blobs', name)).catch(() => undefined)));
  return [...new Set(found.filter((file) => file !== undefined))];
}

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

/** Whether no blob is a link to a file of the store, by the list beside it. Throws where the list, or a link, cannot be read: that proves nothing. */
async function isUnlinked(cache: string, file: string): Promise<boolean> {
  for (const line of (await readFile(`${file}.refs`, 'utf8')).split(/\r?\n/))
    if (LINK.test(line) && (await storedFile(cache, join(resolve(cache), line))) === file) return false;
  return true;
}

/** Removes a file of the store that no blob is a link to, and returns its size. Its list stays: another client may be writing to it. */
async function sweepStoredFile(cache: string, file: string): Promise<number> {
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

async function removeMovedAway(folder: string): Promise<void> {
  for (const inner of await readdir(folder)) {
    for (const name of await readdir(join(folder, inner)).catch(() => [])) {
      const path = join(folder, inner, name);
      const facts = MOVED_AWAY.test(name) ? await lstat(path).catch(() => null) : null;
      if (facts && Date.now() - facts.ctimeMs > LEFT_MS) await rm(path, { force: true }).catch(() => undefined);
    }
  }
}
