import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, relative, sep } from 'node:path';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** A size for people: steps of 1024, one decimal, no space, such as `3.4GB`. */
export function humanSize(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)}${UNITS[step]}`;
}

/** A path that begins with `~` with the home folder in its place, as the shell has it. */
export const expandHome = (path: string): string => path.replace(/^~(?=[/\\]|$)/, () => homedir());

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
