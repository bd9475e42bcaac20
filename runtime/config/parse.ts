import { createRequire } from 'node:module';
import type { CST, Document } from 'yaml';
import { isObject, type JsonObject } from '../base/json.js';
import { once } from '../base/once.js';

/** The YAML library, loaded at the first file that is read: its 70 modules are not part of the daemon's start. */
export const yaml = once(() => createRequire(import.meta.url)('yaml') as typeof import('yaml'));

/** Largest project file in bytes; also bounds how long parsing one can take. */
export const MAX_PROJECT_FILE_BYTES = 1024 * 1024;

/** Deepest nesting of a project file. */
const MAX_DEPTH = 64;

/** Most unfinished collections while parsing: the nesting, the document, a key and the value being read. */
const MAX_PARSER_STACK = MAX_DEPTH + 4;

/** Most values in a project file after aliases are followed. */
const MAX_VALUES = 200_000;

/** Most members of one object in a configuration that is sent: it is copied, checked and compared at once, some ten times. */
export const MAX_SENT_MEMBERS = 2_000;

/** Most nodes that the aliases of one file may expand to, per anchor; stops exponential alias bombs (the limit of the YAML package's own check). */
const MAX_ALIAS_COUNT = 100;

/** The formats of project files. */
export type FileFormat = 'yaml' | 'json' | 'toml';

/** A file that parsed; `document` keeps comments and layout and is there for YAML alone. */
export interface ParsedFile {
  readonly value: JsonObject;
  readonly document: Document | null;
}

/** Why a text is no project file; the message is one sentence without the file's name. */
export class Unparsable extends Error {}

/** Parses the text of a project file. Throws `Unparsable`. */
export function parseProjectText(text: string, format: FileFormat): ParsedFile {
  if (Buffer.byteLength(text) > MAX_PROJECT_FILE_BYTES) throw new Unparsable(`it is larger than ${MAX_PROJECT_FILE_BYTES} bytes`);
  if (text.trim() === '') throw new Unparsable('it is empty');
  const parsed = format === 'yaml' ? parseYaml(text) : { value: format === 'json' ? parseJson(text) : parseToml(text), document: null };
  if (parsed.value === null) throw new Unparsable('it is empty');
  if (!isObject(parsed.value)) throw new Unparsable('its top level is not a set of keys and values');
  checkTree(parsed.value);
  return parsed as ParsedFile;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new Unparsable(`it is not valid JSON: ${withoutQuotes((cause as Error).message)}`);
  }
}

function parseToml(text: string): unknown {
  try {
    return readToml(text);
  } catch (cause) {
    throw new Unparsable(`it is not valid TOML: ${(cause as Error).message}`, { cause });
  }
}

function parseYaml(text: string): { value: unknown; document: Document } {
  const document = parseYamlDocument(text);
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIAS_COUNT }), document };
  } catch (cause) {
    throw notYaml(cause);
  }
}

/** Parses YAML text into a document that keeps comments and layout. Throws `Unparsable` for what is not one correct document. */
export function parseYamlDocument(text: string): Document {
  const lines = new (yaml().LineCounter)();
  lines.addNewLine(0);
  const parser = new (yaml().Parser)(lines.addNewLine);
  const tokens: CST.Token[] = [];
  // Fed token by token to stop at hostile nesting: the parser and the composer after it recurse, and running out of stack inside
  // the regular expression compiler ends the whole process.
  for (const lexeme of new (yaml().Lexer)().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_PARSER_STACK) throw new Unparsable(`it is nested more than ${MAX_DEPTH} levels deep`);
  }
  tokens.push(...parser.end());
  // `merge` because hand-written files use `<<`; the core schema has no types beyond JSON's.
  // The library compares each key with all others of its map, which takes minutes where there are tens of thousands.
  const options = { merge: true, logLevel: 'silent', lineCounter: lines, uniqueKeys: false } as const;
  const [document, second] = new (yaml().Composer)(options).compose(tokens, true, text.length);
  if (second) throw new Unparsable('it is not valid YAML: it holds several documents');
  const error = document!.errors[0];
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return ` at line ${line}, column ${col}`;
  };
  if (error) throw notYaml(error, place(error.pos[0]));
  refuseRepeatedKeys(document as Document, place);
  return document as Document;
}

function refuseRepeatedKeys(document: Document, place: (offset: number) => string): void {
  yaml().visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!yaml().isScalar(key)) continue;
        if (seen.has(key.value)) throw notYaml(new Error('Map keys must be unique'), place(key.range![0]));
        seen.add(key.value);
      }
    },
  });
}

function notYaml(cause: unknown, place = ''): Unparsable {
  const [reason = ''] = (cause as Error).message.split('\n');
  return new Unparsable(`it is not valid YAML: ${withoutQuotes(reason)}${place}`);
}

/** A parser's reason without the piece of the file that it quotes, which may be a secret; it is no cause for the same reason. */
function withoutQuotes(reason: string): string {
  return reason.replace(/(?:, (?:\.{3})?"|: ).*$/s, '');
}

/** Refuses what the rest of the program should never meet: deep nesting, huge trees, objects of more than `mostMembers`, `__proto__` keys and numbers that JSON cannot say. */
export function checkTree(root: unknown, mostMembers = Number.POSITIVE_INFINITY): void {
  let values = 0;
  const visit = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH) throw new Unparsable(`it is nested more than ${MAX_DEPTH} levels deep`);
    if (++values > MAX_VALUES) throw new Unparsable(`it holds more than ${MAX_VALUES} values`);
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Unparsable(`it holds the number ${value}, which is not finite`);
    if (Array.isArray(value)) {
      for (const item of value) visit(item, depth + 1);
    } else if (isObject(value)) {
      const keys = Object.keys(value);
      if (keys.length > mostMembers) throw new Unparsable(`it holds an object with more than ${mostMembers} members`);
      for (const key of keys) {
        if (key === '__proto__') throw new Unparsable('it holds the key "__proto__", which is not allowed');
        visit(value[key], depth + 1);
      }
    }
  };
  visit(root, 0);
}

/** The TOML library, loaded at the first file that needs it. */
const toml = once(() => createRequire(import.meta.url)('smol-toml') as typeof import('smol-toml'));

/** What a TOML text says, as plain JSON values: dates become their text. Throws an `Error` that says why and where, and quotes nothing of the text. */
function readToml(text: string): unknown {
  const { parse, TomlError } = toml();
  try {
    return plainTomlValue(parse(text));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [reason = ''] = cause.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw new Error(`${reason} at line ${cause.line}, column ${cause.column}`);
  }
}

/** Writes a configuration as TOML. TOML has no null: such members are left out, which means the same in a project file. */
export function writeToml(config: JsonObject): string {
  return `${toml().stringify(withoutNullMembers(config)).trimEnd()}\n`;
}

function plainTomlValue(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainTomlValue);
  return isObject(value) ? mapMembers(value, plainTomlValue) : value;
}

function withoutNullMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNullMembers);
  if (!isObject(value)) return value;
  return mapMembers(
    Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null && item !== undefined)),
    withoutNullMembers,
  );
}

function mapMembers(value: JsonObject, change: (item: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]));
}
