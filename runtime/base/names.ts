import { lstatSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { Failure, numberForMessage } from '../../schemas/errors.js';

/** Longest name of anything that becomes part of a path, in characters; `Name` in `schemas/common.json` says the same. */
export const MAX_NAME_CHARACTERS = 128;

/** What a name may look like, in words, for messages. */
export const NAME_RULE =
  'a name starts with a letter or digit, goes on with letters, digits, ".", "_" and "-", and has at most 128 characters';

const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/** Whether Windows opens a file of this name as a device, which it does with any extension and in any case. */
export function isDeviceName(name: string): boolean {
  return DEVICE.test(name);
}

/** Tells whether a text can be a namespace, project or other path element (threat T1): an allow-list, so `..`, NUL, slashes and look-alike letters fail. */
export function isName(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= MAX_NAME_CHARACTERS &&
    ALLOWED.test(text) &&
    !text.includes('..') &&
    !text.endsWith('.') &&
    !isDeviceName(text)
  );
}

/** Returns a name taken from a URL, or throws `not_found`: nothing can exist under an invalid one. `what` is its word, such as `namespace`. */
export function requireName(what: string, text: unknown): string {
  if (isName(text)) return text;
  throw new Failure('not_found', `There is no ${what} ${quote(text)}: ${NAME_RULE}.`, { code: 'NotFound' });
}

/** Shows a foreign value in a message: quoted, control characters escaped, cut at 80 characters. */
export function quote(value: unknown): string {
  const text = typeof value === 'number' ? String(numberForMessage(value)) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 79)}…"` : text;
}

/**
 * Tells whether an existing path, with every symbolic link followed, lies inside `root` (or is it).
 * False also when either does not exist.
 */
export function liesInside(root: string, path: string): boolean {
  try {
    const top = realpathSync.native(root);
    const real = realpathSync.native(path);
    return real === top || real.startsWith(top.endsWith(sep) ? top : top + sep);
  } catch {
    return false;
  }
}

/** Joins checked names below `root`; throws `not_found` when one is no name, or when the path exists and leaves `root` through a symbolic link. */
export function containedPath(root: string, ...names: string[]): string {
  let path = root;
  for (const name of names) {
    path = join(path, requireName('entry', name));
    if (exists(path) && !liesInside(root, path)) {
      throw new Failure('not_found', `There is no entry ${quote(name)}: it leads out of the data directory.`, { code: 'NotFound' });
    }
  }
  return path;
}

/** Whether there is an entry at all: a dangling link counts, since creating through it would leave the root. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
