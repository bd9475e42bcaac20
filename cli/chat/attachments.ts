import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../schemas/errors.js';

/** A part of a message. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: string } };

/** What goes into a message at most. */
const FILE_BYTES = 16 * 1024 ** 2;
const PICTURE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
};
const SOUND_FORMATS = new Set(['.wav', '.mp3', '.m4a', '.flac', '.ogg', '.opus', '.webm']);
/** A path that a terminal writes when a file is dropped on it: absolute, below home or the folder, in quotes or with escaped blanks. */
const DROPPED =
  /(?<=^|\s)(?:'((?:\/|~\/|\.\.?\/)[^']+)'|"((?:\/|~\/|\.\.?\/)[^"]+)"|((?:file:\/\/)?(?:\/|~\/|\.\.?\/)(?:\\.|[^\s\\'"])+))(?=\s|$)/g;

/** A file as a part of a message: a picture, sound, or text. Throws `bad_request` for what is none of them, and for files that are not there or too large. */
export async function partOf(path: string): Promise<ContentPart> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new Failure('not_found', `there is no file ${path}.`);
  if (found.size > FILE_BYTES)
    throw new Failure(
      'too_large',
      `${path} has ${found.size} bytes; up to ${FILE_BYTES} go into a message. "quern datasets add" takes larger documents.`,
    );
  const bytes = await readFile(path);
  const kind = extname(path).toLowerCase();
  const picture = PICTURE_TYPES[kind];
  if (picture) return { type: 'image_url', image_url: { url: `data:${picture};base64,${bytes.toString('base64')}` } };
  if (SOUND_FORMATS.has(kind)) return { type: 'input_audio', input_audio: { data: bytes.toString('base64'), format: kind.slice(1) } };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { type: 'text', text: `File ${basename(path)}:\n${text}` };
  } catch {
    // Falls through to what is said of other kinds.
  }
  throw new Failure('unsupported_type', `${path} is no text, picture or sound: "quern datasets add" reads documents of other kinds.`);
}

/** What a person typed as the content of a message: files whose paths stand in it become parts, and their names stay in the text. */
export async function contentOf(typed: string, files: readonly string[] = []): Promise<string | ContentPart[]> {
  const parts = await Promise.all(files.map(partOf));
  let text = typed;
  for (const match of typed.matchAll(DROPPED)) {
    const path = pathOf(match);
    if (!(await stat(path).catch(() => null))?.isFile()) continue;
    parts.push(await partOf(path));
    text = text.replace(match[0], basename(path));
  }
  if (parts.length === 0) return typed;
  return text.trim() === '' ? parts : [...parts, { type: 'text', text }];
}

function pathOf([, single, double, bare = '']: RegExpMatchArray): string {
  if (bare.startsWith('file://')) return fileURLToPath(bare);
  const path = single ?? double ?? bare.replaceAll(/\\(.)/g, '$1');
  return path.startsWith('~/') ? `${homedir()}${path.slice(1)}` : path;
}
