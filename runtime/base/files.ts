import { existsSync, mkdirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** A size for people: steps of 1024, one decimal, no space, such as `3.4GB`. */
export function humanSize(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)}${UNITS[step]}`;
}

/** A path that begins with `~` with the home folder in its place, as the shell has it. */
export const expandHome = (path: string): string => path.replace(/^~(?=[/\\]|$)/, () => homedir());

/**
 * Makes a folder that its owner alone may read, and those above it that are missing. Throws what the system says. Node's own way to make several never
 * returns where the system refuses one as not found, as it does below /proc.
 */
export function makePrivateFolder(path: string): void {
  let top: string | undefined;
  for (let at = resolve(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) top = at;
  try {
    if (top !== undefined) mkdirSync(top, { mode: 0o700 });
  } catch (error) {
    // Another process has just made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** True when `path` lies below `root`, by its letters alone. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** True when `path`, with all links followed, lies below `root`; what is not there leads nowhere and counts as inside. */
export async function resolvesInside(root: string, path: string): Promise<boolean> {
  const [from, to] = await Promise.all([realpath(root).catch(() => root), realpath(path).catch(() => null)]);
  return to === null || isInside(from, to);
}

/** The file itself: the hub's cache names one blob by each revision that has it. */
export function realFile(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
