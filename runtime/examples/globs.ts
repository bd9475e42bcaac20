import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { PlainFile } from './plain-file.js';

/** Files of one pattern, and folders below it, that are looked at; more are left out. */
const MAX_FILES = 10_000;
const MAX_DEPTH = 16;
/** Names that are looked at for all patterns of an example; what comes behind them is left out. */
const MAX_NAMES = 100_000;
/** Stars of one pattern. */
const MAX_STARS = 8;
/** Patterns that one with alternatives in braces stands for. */
const MAX_ALTERNATIVES = 64;

/** How many names may still be looked at. */
export interface NameBudget {
  left: number;
}

/** The names that one example may cost. */
export function nameBudget(): NameBudget {
  return { left: MAX_NAMES };
}

/**
 * The files that a pattern means, in the order of their names. It counts from the example's `folder`, or, where it begins with `examples/`,
 * from `root`, which holds all examples. Links are passed over. Throws `bad_request` for one that leads out of `root`, or is no pattern.
 */
export async function filesOf(root: string, folder: string, glob: string, budget: NameBudget = nameBudget()): Promise<PlainFile[]> {
  const { base, parts } = placeOf(root, folder, glob);
  const fixed = parts.findIndex((part) => /[*?{]/.test(part));
  const rest = fixed < 0 ? parts.slice(-1) : parts.slice(fixed);
  const start = parts.slice(0, parts.length - rest.length);
  const walk = { patterns: alternativesOf(glob, rest), budget, found: [] };
  if (await isFolder(base, start)) await walkThrough(join(base, ...start), [], walk);
  return walk.found.sort((a: PlainFile, b: PlainFile) => (a.path < b.path ? -1 : 1));
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

/** One walk through the files of a pattern. */
interface Walk {
  /** Each in its parts between slashes. */
  readonly patterns: readonly (readonly string[])[];
  readonly budget: NameBudget;
  readonly found: PlainFile[];
}

async function walkThrough(folder: string, above: readonly string[], walk: Walk): Promise<void> {
  if (above.length > MAX_DEPTH) return;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (walk.found.length >= MAX_FILES || walk.budget.left <= 0) return;
    walk.budget.left -= 1;
    const path = join(folder, entry.name);
    const names = [...above, entry.name];
    if (entry.isDirectory()) await walkThrough(path, names, walk);
    else if (entry.isFile() && walk.patterns.some((parts) => matchesParts(parts, names)))
      walk.found.push({ path, name: entry.name, sizeBytes: (await lstat(path)).size });
  }
}

/** The patterns that one stands for: one for each choice among its `{a,b}`. Throws `bad_request` for too many of them, and of stars. */
function alternativesOf(glob: string, parts: readonly string[]): string[][] {
  const shown = JSON.stringify(glob.slice(0, 200));
  const text = parts.join('/');
  if ((text.match(/\*+/g) ?? []).length > MAX_STARS)
    throw new Failure('bad_request', `The pattern ${shown} has too many stars; at most ${MAX_STARS} are possible.`, { code: 'BadPattern' });
  let texts = [''];
  for (const token of text.match(/\{[^{}]*\}|[^{]+|\{/g) ?? []) {
    const choices = token.length > 1 && token.startsWith('{') ? token.slice(1, -1).split(',') : [token];
    if (texts.length * choices.length > MAX_ALTERNATIVES)
      throw new Failure(
        'bad_request',
        `The braces of the pattern ${shown} give too many alternatives; at most ${MAX_ALTERNATIVES} are possible.`,
        { code: 'BadPattern' },
      );
    texts = texts.flatMap((start) => choices.map((choice) => start + choice));
  }
  return texts.map((one) => one.split('/'));
}

/** Whether a path has the form of a pattern, in at most (parts of the pattern) x (parts of the path) comparisons. */
function matchesParts(parts: readonly string[], names: readonly string[]): boolean {
  // Whether what was seen of the pattern covers the first `n` names.
  let covers = names.map(() => false);
  covers = [true, ...covers];
  for (const [at, part] of parts.entries()) {
    const next = covers.map(() => false);
    for (let n = 0; n <= names.length; n += 1) {
      if (part === '**') {
        const isLast = at === parts.length - 1;
        // Behind folders of any number; as the last part it stands for the file, too.
        next[n] = (covers[n]! && !isLast) || (n > 0 && (next[n - 1]! || covers[n - 1]!));
      } else next[n] = n > 0 && covers[n - 1]! && nameMatches(part, names[n - 1]!);
    }
    covers = next;
  }
  return covers[names.length]!;
}

/** Whether a name has the form of a part: `*` any characters, `?` one. Only the last star is ever tried again, so that a name costs (its length) x (the part's). */
function nameMatches(part: string, name: string): boolean {
  let [at, star, again] = [0, -1, 0];
  for (let n = 0; n < name.length; ) {
    if (part[at] === '*') {
      star = at;
      again = n;
      at += 1;
    } else if (part[at] === '?' || part[at] === name[n]) {
      at += 1;
      n += 1;
    } else if (star >= 0) {
      at = star + 1;
      again += 1;
      n = again;
    } else return false;
  }
  while (part[at] === '*') at += 1;
  return at === part.length;
}
