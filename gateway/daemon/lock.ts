import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';

const LOCK_NAME = 'quern.lock';
/** `statfs` types of file systems whose locks and renames other machines can break: NFS, SMB, CIFS, SMB2 (Linux magic numbers). */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** Who holds a data directory. */
interface Owner {
  pid: number;
  /** Start time of that process as the kernel tells it, so that a recycled pid is not mistaken for the owner. */
  started: string;
}

/** A held data directory. */
export interface DataDirLock {
  release(): void;
}

function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name may hold spaces and brackets; the fields after its last `)` are fixed (proc(5)): start time is the 22nd field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A killed process that nobody has waited for yet (in containers perhaps for ever) still has its id and start time, but holds nothing.
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return owner.started === '' || owner.started === startTime(owner.pid);
}

function readOwner(path: string): Owner | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return null;
  }
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
function claim(mine: string, dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(mine, JSON.stringify({ pid: process.pid, started: startTime(process.pid) } satisfies Owner));
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
  const lock = join(dataDir, LOCK_NAME);
  const mine = join(dataDir, `${LOCK_NAME}.${process.pid}`);
  claim(mine, dataDir);
  try {
    if (!allowNetwork) refuseNetworkFileSystem(dataDir);
    for (let attempt = 0; attempt < 5; attempt++) {
      if (tryLink(mine, lock)) return { release: () => rmSync(lock, { force: true }) };
      const owner = readOwner(lock);
      if (owner && isAlive(owner))
        throw new Failure(
          'busy',
          `another quern (pid ${owner.pid}) uses the data directory ${dataDir}: stop it with "kill ${owner.pid}", or choose another folder with --data-dir.`,
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
