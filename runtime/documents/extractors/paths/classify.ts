import { posix, win32 } from 'node:path';

/** A path to a file or folder. */
export interface FilePath {
  readonly path: string;
  readonly name: string;
  readonly directory: string;
  /** With the dot, in lower case; empty where there is none. */
  readonly extension: string;
  readonly type: 'unix' | 'windows' | 'unc' | 'relative';
}

/** Longest path, and longest name in one, that common file systems take. */
const PATH_UNITS = 4096;
const NAME_UNITS = 255;

const FORMS: readonly (readonly [FilePath['type'], RegExp])[] = [
  ['windows', /^[A-Za-z]:[\\/]/],
  ['unc', /^\\\\[^\\/]{1,255}\\[^\\/]/],
  ['unix', /^~?\/(?!\/)[\p{L}\p{N}._@-]/u],
  ['relative', /^\.{1,2}[\\/][^\\/]/],
  // Without a leading dot, only an extension tells a path from "and/or".
  ['relative', /^(?!\d+[\\/]\d+[\\/.])[\p{L}\p{N}_@.-]{1,255}[\\/](?:.*[\\/])?[^\\/]{1,255}\.[A-Za-z][A-Za-z0-9]{0,7}$/u],
];
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** The kind of path that a word is, undefined where it is none. */
export function typeOf(word: string): FilePath['type'] | undefined {
  if (word.length < 3 || word.length > PATH_UNITS) return undefined;
  return FORMS.find(([, form]) => form.test(word))?.[0];
}

const rulesOf = (type: FilePath['type'], path: string) => (type === 'windows' || type === 'unc' || path.includes('\\') ? win32 : posix);

/** Takes a path apart; `normalise` also resolves `.` and `..` and doubled separators. The file system is not asked. */
export function describePath(word: string, type: FilePath['type'], normalise: boolean): FilePath {
  const rules = rulesOf(type, word);
  const path = normalise ? rules.normalize(word) : word;
  const { base, dir, ext } = rules.parse(path);
  return { path, name: base, directory: dir, extension: ext.toLowerCase(), type };
}

/** Whether a file system could hold the path: names of possible length, and on Windows without reserved names and marks. */
export function isPossible({ path, type }: FilePath): boolean {
  const names = path.split(/[\\/]/).filter((name) => name !== '');
  if (path.includes('\0') || names.some((name) => name.length > NAME_UNITS)) return false;
  if (type !== 'windows' && type !== 'unc') return true;
  const inside = type === 'windows' ? names.slice(1) : names;
  return inside.every((name) => !RESERVED.test(name) && !/[:*?"<>|]/.test(name) && !/[ .]$/.test(name.replace(/^\.{1,2}$/, '')));
}
