import { posix, win32 } from 'node:path';
import { isDeviceName } from '../../base/names.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import { urlsIn } from '../text/addresses.js';
import { defineExtractor } from './contract.js';

/** A path to a file or folder. */
interface FilePath {
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

/** The kind of path that a word is, undefined where it is none. */
function typeOf(word: string): FilePath['type'] | undefined {
  if (word.length < 3 || word.length > PATH_UNITS) return undefined;
  return FORMS.find(([, form]) => form.test(word))?.[0];
}

const rulesOf = (type: FilePath['type'], path: string) => (type === 'windows' || type === 'unc' || path.includes('\\') ? win32 : posix);

/** Takes a path apart; `normalise` also resolves `.` and `..` and doubled separators. The file system is not asked. */
function describePath(word: string, type: FilePath['type'], normalise: boolean): FilePath {
  const rules = rulesOf(type, word);
  const path = normalise ? rules.normalize(word) : word;
  const { base, dir, ext } = rules.parse(path);
  return { path, name: base, directory: dir, extension: ext.toLowerCase(), type };
}

/** Whether a file system could hold the path: names of possible length, and on Windows without reserved names and marks. */
function isPossible({ path, type }: FilePath): boolean {
  const names = path.split(/[\\/]/).filter((name) => name !== '');
  if (path.includes('\0') || names.some((name) => name.length > NAME_UNITS)) return false;
  if (type !== 'windows' && type !== 'unc') return true;
  const inside = type === 'windows' ? names.slice(1) : names;
  return inside.every((name) => !isDeviceName(name) && !/[:*?"<>|]/.test(name) && !/[ .]$/.test(name.replace(/^\.{1,2}$/, '')));
}

const OPTIONS = {
  extract_file_paths: { type: 'boolean', default: true, description: 'Paths of Unix, Windows and network shares.' },
  extract_urls: { type: 'boolean', default: true, description: 'Web addresses.' },
  extract_s3_paths: { type: 'boolean', default: true, description: 'Addresses of objects, s3://bucket/key.' },
  validate_paths: { type: 'boolean', default: false, description: 'Leaves out paths no file system takes; none is looked up.' },
  normalize_paths: { type: 'boolean', default: true, description: 'Resolves dots and doubled separators.' },
} as const satisfies OptionShapes;

/** Different paths of a kind in one text; the rest is left out. */
const PATHS = 1000;
const WORD = /[^\s"'`<>|(){}[\],;]+/gu;
const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;
const TRAILING_UNITS = 8;

/** Words between spaces, quotes and brackets, without the stop of their sentence. */
function* wordsOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(WORD)) {
    const tail = word.slice(-TRAILING_UNITS);
    yield word.slice(0, word.length - tail.length) + tail.replace(/[.:!?]+$/, '');
  }
}

function collect(text: string, normalise: boolean, validate: boolean) {
  const files = new Map<string, FilePath>();
  const objects = new Map<string, { path: string; bucket: string; key: string }>();
  for (const word of wordsOf(text)) {
    const s3 = word.startsWith('s3://') && objects.size < PATHS ? S3.exec(word) : null;
    if (s3) objects.set(word, { path: word, bucket: s3[1]!, key: s3[2] ?? '' });
    const type = word.includes('://') || files.size >= PATHS ? undefined : typeOf(word);
    if (!type) continue;
    const file = describePath(word, type, normalise);
    if (!validate || isPossible(file)) files.set(file.path, file);
  }
  return { files: [...files.values()], objects: [...objects.values()] };
}

/** Paths in a text; the first file path, or else object, is described beside the chunk. */
export const path = defineExtractor('PathExtractor', OPTIONS, (text, options) => {
  const { files, objects } = collect(text, options.normalize_paths, options.validate_paths);
  const urls = options.extract_urls ? [...new Set([...urlsIn(text)].map((span) => span.text))].slice(0, PATHS) : [];
  const file_paths = options.extract_file_paths ? files : [];
  const s3_paths = options.extract_s3_paths ? objects : [];
  const first = file_paths[0] ?? s3_paths.map(({ path: object }) => describePath(object, 'unix', false))[0];
  return {
    output: {
      path: {
        ...(options.extract_file_paths && { file_paths }),
        ...(options.extract_urls && { urls }),
        ...(options.extract_s3_paths && { s3_paths }),
        path_count: file_paths.length + urls.length + s3_paths.length,
      },
    },
    flat: first ? { file_path: first.path, file_name: first.name, directory: first.directory, file_extension: first.extension } : {},
  };
});
