import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, lstat, mkdir, readlink, rename, rm, rmdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive, readOwner, thisProcess } from '../../hosts/processes.js';
import { repositoryFolder } from '../find/hub-cache.js';

/** A file of a repository, as the hub lists it. */
export interface RemoteFile {
  /** Relative, with '/', checked to stay inside. */
  readonly path: string;
  readonly sizeBytes: number;
  /** The name of its blob: the SHA-256 of large files, git's SHA-1 of small ones, in hex. */
  readonly etag: string;
}

/** The folders of one repository in the hub cache, as all programs that share it lay them out. */
export class RepositoryLayout {
  readonly folder: string;
  /** The unfinished files and the whole ones, by the hashes of their contents. */
  readonly blobs: string;
  readonly snapshots: string;
  readonly locks: string;

  constructor(
    cache: string,
    readonly repository: string,
  ) {
    this.folder = repositoryFolder(cache, repository);
    this.blobs = join(this.folder, 'blobs');
    this.snapshots = join(this.folder, 'snapshots');
    this.locks = repositoryFolder(join(cache, '.locks'), repository);
  }

  blob(etag: string): string {
    return join(this.blobs, etag);
  }

  snapshot(commit: string): string {
    return join(this.snapshots, commit);
  }

  /** Where a half of a file is kept; other programs take names of this kind for unfinished and leave them alone. */
  incomplete(etag: string): string {
    return join(this.blobs, `${etag}.quern.incomplete`);
  }

  /** Held by the process that writes the file of that name. */
  lock(etag: string): string {
    return join(this.locks, `${etag}.quern.lock`);
  }

  /** All folders that belong to the repository. */
  get everything(): string[] {
    return [this.folder, this.locks];
  }

  /** Makes the folders that must be there for other programs to read the cache, and shows sweeps of it that this repository is being fetched. */
  async make(): Promise<void> {
    for (const name of ['blobs', 'snapshots', 'refs']) await mkdir(join(this.folder, name), { recursive: true });
    await mkdir(this.locks, { recursive: true });
    const now = new Date();
    await utimes(this.locks, now, now);
  }

  /** Removes the folders that `make` made and that hold nothing; whoever writes next makes them anew. */
  async removeEmpty(): Promise<void> {
    const inner = ['blobs', 'snapshots', 'refs'].map((name) => join(this.folder, name));
    for (const folder of [...inner, ...this.everything]) await rmdir(folder).catch(() => undefined);
  }

  /** Whether the whole file is there: its blob, or a copy in the snapshot where the file system has no links. */
  async has(file: RemoteFile, commit: string): Promise<boolean> {
    for (const path of [this.blob(file.etag), join(this.snapshot(commit), ...file.path.split('/'))]) {
      const facts = await stat(path).catch(() => null);
      if (facts?.isFile() && facts.size === file.sizeBytes) return true;
    }
    return false;
  }

  /** Shows a blob in a snapshot: a relative link, or a copy where links cannot be made. */
  async show(file: RemoteFile, commit: string): Promise<void> {
    const path = join(this.snapshot(commit), ...file.path.split('/'));
    const blob = this.blob(file.etag);
    if (!(await stat(blob).catch(() => null))) return;
    const target = relative(dirname(path), blob);
    if ((await readlink(path).catch(() => null)) === target) return;
    await mkdir(dirname(path), { recursive: true });
    const temporary = `${path}.${randomBytes(4).toString('hex')}.incomplete`;
    try {
      await symlink(target, temporary).catch(() => copyFile(blob, temporary, constants.COPYFILE_FICLONE));
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Notes which commit a branch or tag stands for; a commit stands for itself. */
  async refer(revision: string, commit: string): Promise<void> {
    if (revision === commit) return;
    const path = join(this.folder, 'refs', ...revision.split('/'));
    await mkdir(dirname(path), { recursive: true });
    const temporary = `${path}.${randomBytes(4).toString('hex')}.incomplete`;
    await writeFile(temporary, commit);
    await rename(temporary, path);
  }

  /** True when anything of the repository is in the cache. */
  async exists(): Promise<boolean> {
    return lstat(this.folder).then(
      (facts) => facts.isDirectory() || facts.isSymbolicLink(),
      () => false,
    );
  }
}

/** How often a lock that another download or process holds is looked at again. */
const LOOK_AGAIN_MS = 200;

/**
 * Locks a file for one writer among all downloads and processes, and waits while another has it; the lock of a process that died is taken over.
 * Returns what gives it back.
 */
export async function lockFile(path: string, signal: AbortSignal): Promise<() => Promise<void>> {
  await mkdir(dirname(path), { recursive: true });
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(mine, JSON.stringify(thisProcess()));
  try {
    while (!(await tryLock(mine, path))) {
      signal.throwIfAborted();
      await wait(LOOK_AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return () => rm(path, { force: true });
  } finally {
    await rm(mine, { force: true });
  }
}

/** Links our lock into place, and moves the lock of a dead process away first. A process that moved a live one by mistake sees it and puts it back. */
async function tryLock(mine: string, path: string): Promise<boolean> {
  const isLinked = await link(mine, path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
  if (isLinked) return true;
  const owner = readOwner(path);
  if (owner && isAlive(owner)) return false;
  const stale = `${mine}.stale`;
  await rename(path, stale).catch(() => undefined);
  const moved = readOwner(stale);
  if (moved && isAlive(moved)) await link(stale, path).catch(() => undefined);
  await rm(stale, { force: true });
  return false;
}
