import { readFile } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import type { ParseLimits, SourceFile } from './contract.js';
import { tooLong } from './writer.js';

/** Share of NUL bytes at even or odd places from which a text counts as UTF-16 without a mark. */
const UTF16_SHARE = 0.3;
const LOOKED_AT = 4096;

/** A text and how it was encoded. */
export interface DecodedText {
  readonly text: string;
  readonly encoding: string;
  /** Says that the encoding is a guess; undefined when it is sure. */
  readonly warning?: string;
}

/** The content of a file. Throws `Failure('invalid')` when it is empty. */
export async function bytesOf(file: SourceFile): Promise<Uint8Array> {
  const bytes = file.bytes ?? (await readFile(file.path));
  if (bytes.length === 0) throw new Failure('invalid', `${file.name} is empty (0 bytes).`, { code: 'empty_file' });
  return bytes;
}

function marked(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  return a === 0xfe && b === 0xff ? 'utf-16be' : undefined;
}

/** UTF-16 without a byte order mark, as the zero halves of Latin letters show it. */
export function unmarkedUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const length = Math.min(bytes.length, LOOKED_AT) & ~1;
  const zeros = [0, 0];
  for (let index = 0; index < length; index += 1) if (bytes[index] === 0) zeros[index & 1]! += 1;
  const enough = (length / 2) * UTF16_SHARE;
  if (zeros[1]! > enough && zeros[0]! === 0) return 'utf-16le';
  return zeros[0]! > enough && zeros[1]! === 0 ? 'utf-16be' : undefined;
}

function attempt(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of bytes: by their mark, else as UTF-8, else as the configured encoding, else by the look of UTF-16, else as Windows-1252. */
export function decoded(bytes: Uint8Array, configured = 'utf-8'): DecodedText {
  const mark = marked(bytes);
  if (mark) return { text: new TextDecoder(mark).decode(bytes), encoding: mark };
  const wide = unmarkedUtf16(bytes);
  if (wide) return { text: new TextDecoder(wide).decode(bytes), encoding: wide };
  const asked = /^utf-?8/i.test(configured) ? undefined : attempt(bytes, configured);
  if (asked !== undefined) return { text: asked, encoding: configured.toLowerCase() };
  const utf8 = attempt(bytes, 'utf-8');
  if (utf8 !== undefined) return { text: utf8, encoding: 'utf-8' };
  const warning = `The text is not ${configured}; it was read as windows-1252, so that some letters may be wrong.`;
  return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252', warning };
}

/** The decoded text of a file within the limit. */
export async function textOf(file: SourceFile, configured: unknown, limits: ParseLimits): Promise<DecodedText> {
  // Refused before it is read; UTF-16 may be twice as long as what comes out.
  if (file.sizeBytes > limits.textBytes * 2) throw tooLong(file.name, limits);
  const bytes = await bytesOf(file);
  const found = decoded(bytes, typeof configured === 'string' ? configured : undefined);
  if (found.text.trim() === '') throw new Failure('invalid', `${file.name} holds nothing but white space.`, { code: 'empty_file' });
  return found;
}

/** Line ends as \n, no control characters, no trailing blanks, at most one blank line in a row. */
export function cleaned(text: string): string {
  return (
    text
      .replace(/\r\n?/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
      .replace(/[\u0000-\u0008\u000b\u000e-\u001f\u007f\ufeff]/g, '')
      .replace(/[ \t]{1,1000}$/gm, '')
      .replace(/\n{3,}/g, '\n\n')
  );
}
