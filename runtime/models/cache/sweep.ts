import { randomBytes } from 'node:crypto';
import { lstat, readdir, readlink, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { log } from '../../base/log.js';
import { cachedRepositories } from '../find/hub-cache.js';
import { type RemoteFile, RepositoryLayout } from './layout.js';
import { claim } from './lock.js';

/** A repository where something changed within this time may be one that some program still downloads. */
const REST_MS = 24 * 3600 * 1000;
/** A blob, or what a download of ours leaves when it is cut short. What other programs have not finished has other names. */
const OURS = /^([0-9a-f]{40}|[0-9a-f]{64})(?:(?:\.[0-9a-f]{8})?\.quern\.incomplete(?:\.parts)?)?$/;
/** How long a blob may stay claimed before it is left alone; the claim of a dead process falls within it. */
const CLAIM_MS = 500;

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
async function abandoned(layout: RepositoryLayout): Promise<string[]> {
  const shown = await shownBlobs(layout);
  if (!shown) return [];
  const entries = await readdir(layout.blobs, { withFileTypes: true }).catch(() => []);
  // A link leads to the store that all repositories share, and is another program's.
  return entries
    .filter((entry) => entry.isFile() && OURS.test(entry.name) && !shown.has(resolve(layout.blobs, entry.name)))
    .map(({ name }) => name);
}

/** Removes a blob that no snapshot shows, unless a download has claimed it or a program shows it in this very moment. Returns its size. */
async function removeBlob(layout: RepositoryLayout, name: string): Promise<number> {
  const [, etag] = OURS.exec(name)!;
  const release = await claim(layout.lock(etag!), AbortSignal.timeout(CLAIM_MS));
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

/** Removes what unfinished downloads of ours have of these files, unless another one has claimed it. Never rejects. */
export async function removeHalves(layout: RepositoryLayout, files: readonly RemoteFile[]): Promise<void> {
  for (const { etag } of files) {
    const release = await claim(layout.lock(etag), AbortSignal.timeout(CLAIM_MS)).catch(() => undefined);
    if (!release) continue;
    const half = layout.incomplete(etag);
    for (const path of [half, `${half}.parts`]) await rm(path, { force: true }).catch(() => undefined);
    await release();
  }
}

/**
 * Removes from the hub cache what downloads that were cut short have left there: blobs that no snapshot shows, and unfinished files of ours, in
 * repositories where nothing has changed for a day. Other programs share the cache: what they have not finished, what a download claims, and
 * what is shown by links of another kind stays. `nowMs` is the time to measure ages by. Returns the bytes that this freed. Never rejects.
 */
export async function sweepCache(cache: string, signal: AbortSignal, nowMs = Date.now()): Promise<number> {
  let freedBytes = 0;
  for (const repository of await cachedRepositories(cache)) {
    const layout = new RepositoryLayout(cache, repository);
    const isFolder = await lstat(layout.folder).then((facts) => facts.isDirectory(), () => false); // biome-ignore format: one question
    if (!isFolder || signal.aborted) continue;
    const changed = await Promise.all([layout.blobs, layout.locks, layout.snapshots].map(newestMs));
    if (nowMs - Math.max(...changed) < REST_MS) continue;
    for (const name of await abandoned(layout)) {
      if (signal.aborted) break;
      // It may be another user's, or claimed.
      freedBytes += await removeBlob(layout, name).catch(() => 0);
    }
  }
  if (freedBytes > 0) log('info', 'removed from the model cache what no snapshot shows', { cache, bytes: freedBytes });
  return freedBytes;
}
