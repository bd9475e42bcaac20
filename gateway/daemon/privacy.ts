import { chmodSync, type Stats } from 'node:fs';
import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { log } from '../../runtime/base/log.js';

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
