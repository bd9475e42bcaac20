import { Failure } from '../../../schemas/errors.js';
import { encodingMetadata, textOf, withoutEmbedded } from './bytes.js';
import { damagedFile, type Parser, type SourceFile } from './contract.js';
import { DocumentWriter } from './writer.js';

const DEFAULTS = { chunk_size: 1000, chunk_overlap: 0, chunk_strategy: 'paragraphs', encoding: 'utf-8', extract_metadata: true };
const DEPTH_LIMIT = 200;
/** Shorter texts may be keys and hashes, which are searched. */
const ENCODED_UNITS = 1024;
const BASE64 = /^[A-Za-z0-9+/\r\n_-]+={0,2}\s?$/;
const NUMBER = /-?\d[\d.eE+-]*/g;

type Lines = string[];

/** Whether a value is the content of a file in Base64: long, without blanks, of letters in both cases and digits. */
const isEncoded = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length >= ENCODED_UNITS &&
  BASE64.test(value) &&
  /[a-z]/.test(value) &&
  /[A-Z]/.test(value) &&
  /\d/.test(value);

/** `path: value` lines of a value, empty ones left out. */
function flatten(file: SourceFile, value: unknown, path: string, depth: number, into: Lines): Lines {
  if (depth > DEPTH_LIMIT)
    throw new Failure('invalid', `${file.name} is nested deeper than the ${DEPTH_LIMIT} levels that are read.`, { code: 'too_deep' });
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
    const shown = value.filter((one) => !isEncoded(one)).map((one) => withoutEmbedded(String(one)));
    if (shown.length > 0) into.push(`${path ? `${path}: ` : ''}${shown.join(', ')}`);
  } else if (typeof value === 'object' && value !== null) {
    const numbered = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      flatten(file, inner, numbered ? `${path}[${key}]` : path ? `${path}.${key}` : key, depth + 1, into);
    }
  } else if (value !== null && value !== '' && !isEncoded(value)) into.push(`${path ? `${path}: ` : ''}${withoutEmbedded(String(value))}`);
  return into;
}

/** Reads JSON; numbers that a double would change, such as long order numbers or `1.10`, become texts as they are written. Throws `SyntaxError`. */
function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const pieces: string[] = [];
  let at = 0;
  // The text is JSON by now: each quotation mark outside of a string opens one.
  while (at < text.length) {
    const opening = text.indexOf('"', at);
    const between = text.slice(at, opening < 0 ? text.length : opening);
    pieces.push(between.replace(NUMBER, (written) => (String(Number(written)) === written ? written : `"${written}"`)));
    if (opening < 0) break;
    at = stringEnd(text, opening);
    pieces.push(text.slice(opening, at));
  }
  const exact = pieces.join('');
  return exact === text ? value : JSON.parse(exact);
}

/** Index behind the string that opens at `opening`. */
function stringEnd(text: string, opening: number): number {
  let closing = opening;
  let slashes = 0;
  do {
    closing = text.indexOf('"', closing + 1);
    slashes = 0;
    while (text[closing - 1 - slashes] === '\\') slashes += 1;
  } while (slashes % 2 === 1);
  return closing + 1;
}

/** One value per line; undefined where a line is no JSON. */
function linesOfJson(text: string): unknown[] | undefined {
  try {
    return text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map(parseExactly);
  } catch {
    return undefined;
  }
}

function readJson(file: SourceFile, text: string): { value: unknown; isLines: boolean } {
  try {
    return { value: parseExactly(text), isLines: false };
  } catch (error) {
    const lines = linesOfJson(text);
    if (lines) return { value: lines, isLines: true };
    throw damagedFile(file, `it is not JSON (${(error as Error).message.slice(0, 120)})`, error);
  }
}

/** JSON and JSON Lines: each element of a list, or each member of an object, is a block of `path: value` lines. */
export const json: Parser = {
  id: 'json',
  defaults: { JSONParser: DEFAULTS },
  extensions: ['.json', '.jsonl', '.ndjson', '.geojson'],
  mimeTypes: ['application/json', 'application/x-ndjson', 'application/jsonl', 'application/ld+json'],
  readsText: true,
  async parse(file, options, limits) {
    const found = await textOf(file, options, limits);
    const { value, isLines } = readJson(file, found.text);
    const writer = new DocumentWriter(file.name, limits);
    if (found.warning) writer.warnings.push(found.warning);
    if (Array.isArray(value)) {
      value.forEach((one, index) => {
        writer.add('paragraph', flatten(file, one, '', 0, []).join('\n'), { metadata: { item_number: index + 1 } });
      });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        writer.add('paragraph', flatten(file, inner, key, 0, []).join('\n'), { metadata: { json_key: key } });
      }
    } else writer.add('paragraph', String(value));
    if (options.extract_metadata === false) return writer.finish({});
    return writer.finish({
      type: isLines ? 'json_lines' : 'json',
      ...(Array.isArray(value) ? { items: value.length } : {}),
      ...encodingMetadata(found),
    });
  },
};
