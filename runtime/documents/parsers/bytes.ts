import { isAscii, isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import type { Metadata } from '../contract.js';
import type { ParseLimits, SourceFile } from './contract.js';
import { markedEncoding, textEncoding, unmarkedUtf16 } from './encodings/declared.js';
import { decodeBytes, escapedEncoding } from './encodings/decode.js';
import { guessedEncoding } from './encodings/guess.js';
import { encodingOf } from './encodings/names.js';
import { tooLong } from './writer.js';

/** Guesses below this confidence come with a warning. */
const SURE = 0.9;
/** Letters of UTF-8 beyond ASCII for each broken byte, from which a text counts as UTF-8 with damage. */
const LETTERS_PER_DAMAGE = 4;
/** Share of the characters beyond ASCII that may mean nothing in an encoding that the user or the file names. */
const DAMAGE_SHARE = 0.1;
const REPLACEMENT = /\ufffd/g;

/** A text and how it was encoded. */
export interface DecodedText {
  readonly text: string;
  /** By its usual name, in lower case. */
  readonly encoding: string;
  /** Of a guess, 0 to 1; undefined where the encoding is known. */
  readonly confidence?: number;
  /** Says that letters may be wrong; undefined when it is sure. */
  readonly warning?: string;
}

/** What is said of the encoding of a text besides its bytes; unknown names count as not said. */
interface EncodingHints {
  /** The parser's option `encoding`; `utf-8`, its default, leaves the choice to the file. */
  readonly setting?: unknown;
  /** What the file, or what it lies in, names. */
  readonly declared?: string | undefined;
}

/** The content of a file. Throws `Failure('invalid')` when it is empty. */
export async function bytesOf(file: SourceFile): Promise<Uint8Array> {
  const bytes = file.bytes ?? (await readFile(file.path));
  if (bytes.length === 0) throw new Failure('invalid', `${file.name} is empty (0 bytes).`, { code: 'empty_file' });
  return bytes;
}

const lettersBeyondAscii = (text: string): number => {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) count += 1;
  return count;
};

const damageOf = (text: string): number => text.match(REPLACEMENT)?.length ?? 0;

const damageWarning = (count: number, encoding: string): string =>
  `${count} ${count === 1 ? 'stretch of bytes means' : 'stretches of bytes mean'} nothing in ${encoding}; a replacement character stands for each.`;

/** The text in an encoding that is named; undefined where so much of it means nothing that the name must be wrong. */
function decodeAs(bytes: Uint8Array, encoding: string): DecodedText | undefined {
  const text = decodeBytes(bytes, encoding);
  const damage = damageOf(text);
  if (damage === 0) return { text, encoding };
  if (damage > lettersBeyondAscii(text) * DAMAGE_SHARE) return undefined;
  return { text, encoding, warning: damageWarning(damage, encoding) };
}

/** UTF-8, whole or with a few broken bytes. */
function utf8(bytes: Uint8Array): DecodedText | undefined {
  const text = decodeBytes(bytes, 'utf-8');
  if (isUtf8(bytes)) return { text, encoding: 'utf-8' };
  const damage = damageOf(text);
  if (lettersBeyondAscii(text) - damage < damage * LETTERS_PER_DAMAGE) return undefined;
  return { text, encoding: 'utf-8', warning: damageWarning(damage, 'utf-8') };
}

function decodeByGuess(bytes: Uint8Array, refused: string | undefined): DecodedText {
  const { encoding, confidence } = guessedEncoding(bytes);
  const text = decodeBytes(bytes, encoding);
  if (confidence >= SURE && refused === undefined && damageOf(text) === 0) return { text, encoding, confidence };
  const why = refused === undefined ? 'The file does not name its encoding' : `The text is not in ${refused}, as it should be`;
  const warning = `${why}; it was read as ${encoding}, which is a guess (confidence ${confidence}). If letters are wrong, name the encoding in the parser's option encoding.`;
  return { text, encoding, confidence, warning };
}

/**
 * The text of bytes, in the encoding of the first of these that fits: the byte order mark, the setting, what the file declares, escape sequences
 * of seven bits, UTF-8, the look of UTF-16, a guess by the frequency of letters.
 */
export function decodeText(bytes: Uint8Array, { setting, declared }: EncodingHints = {}): DecodedText {
  const mark = markedEncoding(bytes);
  if (mark) return { text: decodeBytes(bytes, mark), encoding: mark };
  const set = typeof setting === 'string' ? encodingOf(setting) : undefined;
  const wanted = [set === 'utf-8' ? undefined : set, declared].filter((one) => one !== undefined);
  for (const encoding of wanted) {
    const found = decodeAs(bytes, encoding);
    if (found) return found;
  }
  if (isAscii(bytes)) {
    const escaped = escapedEncoding(bytes);
    if (escaped) return { text: decodeBytes(bytes, escaped), encoding: escaped };
  }
  const wide = unmarkedUtf16(bytes);
  if (wide) return { text: decodeBytes(bytes, wide), encoding: wide };
  return utf8(bytes) ?? decodeByGuess(bytes, wanted[0]);
}

/** The decoded text of a file within the limit. `declared` finds what the bytes name as their encoding. */
export async function textOf(
  file: SourceFile,
  options: Metadata,
  limits: ParseLimits,
  declared: (bytes: Uint8Array) => string | undefined = textEncoding,
): Promise<DecodedText> {
  // Refused before it is read; UTF-16 may be twice as long as what comes out.
  if (file.sizeBytes > limits.textBytes * 2) throw tooLong(file.name, limits);
  const bytes = await bytesOf(file);
  const found = decodeText(bytes, { setting: options.encoding, declared: declared(bytes) });
  if (found.text.trim() === '') throw new Failure('invalid', `${file.name} holds nothing but white space.`, { code: 'empty_file' });
  return found;
}

/** What metadata says of the encoding of a text: nothing where it is UTF-8. */
export function encodingMetadata({ encoding, confidence }: DecodedText): Metadata {
  return { ...(encoding === 'utf-8' ? {} : { encoding }), ...(confidence === undefined ? {} : { encoding_confidence: confidence }) };
}

const EMBEDDED = /\bdata:[\w.+-]{1,60}\/[\w.+-]{1,80}(?:;[\w.=+-]{1,60}){0,5};base64,[A-Za-z0-9+/=_-]{32,}/gi;

/** The text without the content of embedded files, such as images: `data:` addresses lose their bytes. */
export function withoutEmbedded(text: string): string {
  return text.includes(';base64,') ? text.replace(EMBEDDED, (address) => address.slice(0, address.indexOf(';'))) : text;
}

/** Line ends as \n, no control characters, no trailing blanks, at most one blank line in a row. */
export function cleanText(text: string): string {
  return (
    text
      .replace(/\r\n?/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
      .replace(/[\u0000-\u0008\u000b\u000e-\u001f\u007f\ufeff]/g, '')
      .replace(/[ \t]{1,1000}$/gm, '')
      .replace(/\n{3,}/g, '\n\n')
  );
}
