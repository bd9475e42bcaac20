import { chmodSync, existsSync, linkSync, renameSync, rmSync, type Stats, statfsSync, writeFileSync } from 'node:fs';
import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '../../runtime/base/files.js';
import { log } from '../../runtime/base/log.js';
import { isAlive, readOwner, thisProcess } from '../../runtime/hosts/processes.js';
import { Failure } from '../../schemas/errors.js';

/** Nobody but the owner reads, writes or enters. */
const OTHERS = 0o077;

/**
 * Lets only the owner at what this process and its children write from now on, and at the data directory at once. What is in the directory
 * is gone through beside other work: until that is done, nobody gets past the directory itself.
 */
export function keepPrivate(dataDir: string): void {
  process.umask(OTHERS);
  try {
    chmodSync(dataDir, 0o700);
  } catch (error) {
    log('warn', 'the data directory belongs to somebody else, who decides who may read it', { path: dataDir, error });
    return;
  }
  void tightenBelow(dataDir).catch((error: unknown) => log('warn', 'the rights of some files could not be narrowed', { error }));
}

async function tightenBelow(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined || !(stats.isFile() || stats.isDirectory())) continue;
    await tighten(path, stats);
    if (stats.isDirectory()) await tightenBelow(path).catch(() => undefined);
  }
}

async function tighten(path: string, { mode }: Stats): Promise<void> {
  if ((mode & OTHERS) === 0) return;
  // What the owner may do stays: other programs keep scripts here, too. It may be gone by now.
  await chmod(path, mode & 0o700).catch(() => undefined);
}

const LOCK_NAME = 'quern.lock';
/** `statfs` types of file systems whose locks and renames other machines can break: NFS, SMB, CIFS, SMB2 (Linux magic numbers). */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** The file that says which process uses a data directory. */
export const lockFile = (dataDir: string): string => join(dataDir, LOCK_NAME);

/** A held data directory. */
export interface DataDirLock {
  release(): void;
}

/** True when our lock file is in place now; false when another one is. */
function tryLink(mine: string, lock: string): boolean {
  try {
    linkSync(mine, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Makes the directory and writes this process's claim into it, which the lock becomes a link to. */
function writeOwner(mine: string, dataDir: string): void {
  try {
    makePrivateFolder(dataDir);
    writeFileSync(mine, JSON.stringify(thisProcess()));
  } catch (error) {
    if (existsSync(mine)) rmSync(mine);
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    const remedy = reason === 'ENOSPC' || reason === 'EDQUOT' ? 'the disk is full: free some space' : 'make it writable';
    throw new Failure(
      'unavailable',
      `cannot write to the data directory ${dataDir} (${reason}): ${remedy}, or choose another with --data-dir or DATA_DIR.`,
      { cause: error },
    );
  }
}

function refuseNetworkFileSystem(dataDir: string): void {
  if (NETWORK_FILE_SYSTEMS.has(Number(statfsSync(dataDir).type) >>> 0))
    throw new Failure(
      'unavailable',
      `the data directory ${dataDir} is on a network file system, where a crash can corrupt it: choose a local folder with --data-dir, or accept the risk with --allow-network-fs.`,
    );
}

/**
 * Takes the data directory for this process, so that only one daemon writes to it (threat T37).
 * A lock whose owner is dead (SIGKILL, power loss) is taken over. Throws `Failure` with the remedy.
 */
export function lockDataDir(dataDir: string, allowNetwork = false): DataDirLock {
  const lock = lockFile(dataDir);
  const mine = join(dataDir, `${LOCK_NAME}.${process.pid}`);
  writeOwner(mine, dataDir);
  try {
    if (!allowNetwork) refuseNetworkFileSystem(dataDir);
    for (let attempt = 0; attempt < 5; attempt++) {
      if (tryLink(mine, lock)) return { release: () => rmSync(lock, { force: true }) };
      const owner = readOwner(lock);
      if (owner && isAlive(owner))
        throw new Failure(
          'busy',
          `another quern (pid ${owner.pid}) uses the data directory ${dataDir}: stop it with "quern stop" (with the same --data-dir), or choose another folder with --data-dir.`,
        );
      // Two starters may find the same dead lock: moving it aside is atomic, and whoever moved a live one by mistake sees it and puts it back.
      const aside = join(dataDir, `${LOCK_NAME}.stale.${process.pid}`);
      try {
        renameSync(lock, aside);
      } catch {
        continue;
      }
      const moved = readOwner(aside);
      if (moved && isAlive(moved)) tryLink(aside, lock);
      rmSync(aside, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
  throw new Failure('busy', `could not lock the data directory ${dataDir}: remove ${lock} if no quern is running, then start again.`);
}
