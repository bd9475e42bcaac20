import { randomBytes } from 'node:crypto';
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive, readOwner, thisProcess } from '../../hosts/processes.js';

/** How often a claim that another download or process holds is looked at again. */
const LOOK_AGAIN_MS = 200;

/** Links our claim into place; moves that of a dead process aside first. Whoever moved a live one by mistake sees it and puts it back. */
async function tryClaim(mine: string, path: string): Promise<boolean> {
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
  const aside = `${mine}.stale`;
  await rename(path, aside).catch(() => undefined);
  const moved = readOwner(aside);
  if (moved && isAlive(moved)) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
  return false;
}

/**
 * Claims a file for one writer among all downloads and processes, and waits while another has it; a claim whose process died is taken over.
 * Returns what gives it back.
 */
export async function claim(path: string, signal: AbortSignal): Promise<() => Promise<void>> {
  await mkdir(dirname(path), { recursive: true });
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(mine, JSON.stringify(thisProcess()));
  try {
    while (!(await tryClaim(mine, path))) {
      signal.throwIfAborted();
      await wait(LOOK_AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return () => rm(path, { force: true });
  } finally {
    await rm(mine, { force: true });
  }
}
