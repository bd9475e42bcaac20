import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';

/** Files of one pattern, and folders below it, that are looked at; more are left out. */
const MAX_FILES = 10_000;
const MAX_DEPTH = 16;
/** Stars of one pattern: each may be tried against every part of a path. */
const MAX_STARS = 8;

/** A file that a pattern means. */
export interface ExampleFile {
  readonly path: string;
  readonly name: string;
  readonly sizeBytes: number;
}

/**
 * The files that a pattern means, in the order of their names. It counts from the example's `folder`, or, where it begins with `examples/`,
 * from `root`, which holds all examples. Links are passed over. Throws `bad_request` for one that leads out of `root`, or is no pattern.
 */
export async function filesOf(root: string, folder: string, glob: string): Promise<ExampleFile[]> {
  const { base, parts } = placeOf(root, folder, glob);
  const fixed = parts.findIndex((part) => /[*?{]/.test(part));
  const rest = fixed < 0 ? parts.slice(-1) : parts.slice(fixed);
  const start = join(base, ...parts.slice(0, parts.length - rest.length));
  const found: ExampleFile[] = [];
  if (await isFolder(base, parts.slice(0, parts.length - rest.length))) await walk(start, '', patternOf(glob, rest), found);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A path below `root`, counted as a pattern is. Throws `bad_request` where it leads out. */
export function pathOf(root: string, folder: string, path: string): string {
  const { base, parts } = placeOf(root, folder, path);
  return join(base, ...parts);
}

function placeOf(root: string, folder: string, path: string): { base: string; parts: string[] } {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (isAbsolute(path) || parts.length === 0 || parts.includes('..') || /[\\\0]/.test(path))
    throw new Failure('bad_request', `Path outside examples directory: ${JSON.stringify(path.slice(0, 200))}`, { code: 'OutsideExamples' });
  return parts[0] === 'examples' && parts.length > 1 ? { base: root, parts: parts.slice(1) } : { base: folder, parts };
}

/** Whether a folder is there, with no link on the way to it. */
async function isFolder(base: string, parts: readonly string[]): Promise<boolean> {
  let path = base;
  for (const part of parts) {
    path = join(path, part);
    const stats = await lstat(path).catch(() => undefined);
    if (!stats?.isDirectory()) return false;
  }
  return true;
}

async function walk(folder: string, below: string, pattern: RegExp, found: ExampleFile[], depth = 0): Promise<void> {
  if (depth > MAX_DEPTH) return;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (found.length >= MAX_FILES) return;
    const name = `${below}${entry.name}`;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await walk(path, `${name}/`, pattern, found, depth + 1);
    else if (entry.isFile() && pattern.test(name)) found.push({ path, name: entry.name, sizeBytes: (await lstat(path)).size });
  }
}

/** The expression of the parts of a pattern. */
function patternOf(glob: string, parts: readonly string[]): RegExp {
  const text = parts.join('/');
  if ((text.match(/\*+/g) ?? []).length > MAX_STARS)
    throw new Failure('bad_request', `A pattern may have ${MAX_STARS} stars: ${JSON.stringify(glob.slice(0, 200))}`, {
      code: 'BadPattern',
    });
  const source = text.replace(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[.+^$()|[\]{}\\]/g, (token) => {
    if (token === '**/') return '(?:[^/]+/)*';
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (token.length > 2) return `(?:${token.slice(1, -1).split(',').map(escaped).join('|')})`;
    return `\\${token}`;
  });
  return new RegExp(`^${source}$`);
}

function escaped(text: string): string {
  return text.replace(/[.+^$()|[\]\\*?]/g, '\\$&');
}
