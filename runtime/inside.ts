import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';

/** True when `path` lies below `root`, by its letters alone. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** True when `path`, with all links followed, lies below `root`; what is not there leads nowhere and counts as inside. */
export async function staysInside(root: string, path: string): Promise<boolean> {
  const [from, to] = await Promise.all([realpath(root).catch(() => root), realpath(path).catch(() => null)]);
  return to === null || isInside(from, to);
}

/** The file itself: the hub's cache names one blob by each revision that has it. */
export function fileOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
