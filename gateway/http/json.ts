import { isUtf8 } from 'node:buffer';
import { breathe } from '../../runtime/base/loop.js';
import type { WholeReply } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';

/** Deepest nesting of arrays and objects that a body may have (threat T14). */
export const MAX_JSON_DEPTH = 64;
/** Longest name of a member; a failure repeats the names on its path. */
const MAX_NAME_CHARS = 1024;

/**
 * Parses a request body. Throws `Failure('invalid')` for text that is not UTF-8 or not JSON (with the position), nesting
 * over `MAX_JSON_DEPTH`, names over `MAX_NAME_CHARS`, and members that would reach an object's prototype.
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw refused('utf8_invalid', 'the body is not valid UTF-8');
  let text = bytes.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw syntaxFailure(text, errorPosition(text));
  }
  if (value !== null && typeof value === 'object') inspect(value, 1);
  return value;
}

/** The failure of a body that is not what it must be. */
export function refused(type: string, message: string, loc: (string | number)[] = []): Failure {
  return new Failure('invalid', `Malformed JSON: ${message}.`, { errors: [{ type, loc: ['body', ...loc], msg: message }] });
}

/** The failure of a body whose lists and objects are nested deeper than `MAX_JSON_DEPTH`. */
export function tooDeep(): Failure {
  return refused('json_too_deep', `nested deeper than ${MAX_JSON_DEPTH} levels`);
}

/** The failure of a body in which a member has a name of more than `MAX_NAME_CHARS`. */
export function nameTooLong(): Failure {
  return refused('json_name_too_long', `a member has a name of more than ${MAX_NAME_CHARS} characters`);
}

/** Throws for what `parseJson` refuses in values that `JSON.parse` has made. `depth` is that of the node; recursion ends at the first one too deep. */
export function inspect(node: object, depth: number): void {
  if (depth > MAX_JSON_DEPTH) throw tooDeep();
  if (Array.isArray(node)) {
    for (const item of node) if (item !== null && typeof item === 'object') inspect(item, depth + 1);
    return;
  }
  for (const key in node) {
    const value = (node as Record<string, unknown>)[key];
    inspectMember(key, value);
    if (value !== null && typeof value === 'object') inspect(value, depth + 1);
  }
}

/** Throws for a member that would reach an object's prototype, or whose name is too long. */
export function inspectMember(name: string, value: unknown): void {
  if (name.length > MAX_NAME_CHARS) throw nameTooLong();
  if (name === '__proto__') throw refused('json_forbidden_key', 'the member "__proto__" is not allowed');
  if (name !== 'constructor' || value === null || typeof value !== 'object' || !Object.hasOwn(value, 'prototype')) return;
  throw refused('json_forbidden_key', 'the member "constructor.prototype" is not allowed');
}

/** The failure of a text that stops being JSON at `position`; `before` counts what stands before the text. */
export function syntaxFailure(text: string, position: number, before = { chars: 0, line: 1, column: 1 }): Failure {
  const read = text.slice(0, position);
  const line = before.line + (read.match(/\n/g)?.length ?? 0);
  const lineStart = read.lastIndexOf('\n');
  const column = lineStart < 0 ? before.column + position : position - lineStart;
  const at = before.chars + position;
  const found = position >= text.length ? 'unexpected end' : `unexpected ${JSON.stringify(text[position])}`;
  return refused('json_invalid', `${found} at position ${at} (line ${line}, column ${column})`, [at]);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings may not hold them
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const BLANKS = /[ \t\r\n]*/y;

/** What may stand at a place of JSON text: a value, the first part of a list or an object or its end, a member, or what follows a value. */
export type Expected = 'value' | 'first' | 'key' | 'after';

/**
 * Offset of the first character at which `text` stops being JSON; the engine's own messages leave it out. The text may begin inside of lists and
 * objects: `open` holds their closing brackets.
 */
export function errorPosition(text: string, open: string[] = [], expected: Expected = 'value'): number {
  let at = 0;
  let expect = expected;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    take(BLANKS);
    const next = text[at];
    if (next === undefined) return at;
    const inside = open.at(-1);
    if (expect === 'after') {
      if (next === inside) open.pop();
      else if (next === ',' && inside !== undefined) expect = inside === '}' ? 'key' : 'value';
      else return at;
      at += 1;
    } else if (expect === 'first' && next === inside) {
      open.pop();
      at += 1;
      expect = 'after';
    } else if (expect === 'key' || (expect === 'first' && inside === '}')) {
      if (!take(STRING) || text[at] !== '"') return at;
      at += 1;
      take(BLANKS);
      if (text[at] !== ':') return at;
      at += 1;
      expect = 'value';
    } else if (next === '{' || next === '[') {
      open.push(next === '{' ? '}' : ']');
      at += 1;
      expect = 'first';
    } else if (next === '"') {
      take(STRING);
      if (text[at] !== '"') return at;
      at += 1;
      expect = 'after';
    } else {
      if (!take(SCALAR)) return at;
      expect = 'after';
    }
  }
}

/** An answer of JSON with long lists, written in turns of the event loop: an entry of a list at a time. */
export async function replyInTurns(json: object): Promise<WholeReply> {
  const pieces: Buffer[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (value === undefined) continue;
    const head = `${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    if (!Array.isArray(value)) {
      pieces.push(Buffer.from(head + JSON.stringify(value)));
      continue;
    }
    pieces.push(Buffer.from(`${head}[`));
    for (const [at, entry] of value.entries()) {
      pieces.push(Buffer.from(`${at === 0 ? '' : ','}${JSON.stringify(entry) ?? 'null'}`));
      await breathe();
    }
    pieces.push(Buffer.from(']'));
  }
  pieces.push(Buffer.from(pieces.length === 0 ? '{}' : '}'));
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) {
    end += piece.copy(bytes, end);
    await breathe();
  }
  return { bytes, contentType: 'application/json' };
}
