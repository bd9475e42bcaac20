import { isUtf8 } from 'node:buffer';
import { Failure } from '../../schemas/errors.js';

/** Deepest nesting of arrays and objects that a body may have (threat T14). */
export const MAX_JSON_DEPTH = 64;

/**
 * Parses a request body. Throws `Failure('invalid')` for text that is not UTF-8 or not JSON (with the position), nesting
 * over `MAX_JSON_DEPTH`, and members that would reach an object's prototype.
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw refused('utf8_invalid', 'the body is not valid UTF-8');
  let text = bytes.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw syntaxFailure(text);
  }
  if (value !== null && typeof value === 'object') inspect(value, 1);
  return value;
}

function refused(type: string, message: string, loc: (string | number)[] = []): Failure {
  return new Failure('invalid', `Malformed JSON: ${message}.`, { errors: [{ type, loc: ['body', ...loc], msg: message }] });
}

/** Bounded recursion: it ends at the first node that is too deep. */
function inspect(node: object, depth: number): void {
  if (depth > MAX_JSON_DEPTH) throw refused('json_too_deep', `nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (Array.isArray(node)) {
    for (const item of node) if (item !== null && typeof item === 'object') inspect(item, depth + 1);
    return;
  }
  for (const key in node) {
    const value = (node as Record<string, unknown>)[key];
    if (key === '__proto__') throw refused('json_forbidden_key', 'the member "__proto__" is not allowed');
    if (value === null || typeof value !== 'object') continue;
    if (key === 'constructor' && Object.hasOwn(value, 'prototype'))
      throw refused('json_forbidden_key', 'the member "constructor.prototype" is not allowed');
    inspect(value, depth + 1);
  }
}

function syntaxFailure(text: string): Failure {
  const position = errorPosition(text);
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  const column = position - before.lastIndexOf('\n');
  const found = position >= text.length ? 'unexpected end' : `unexpected ${JSON.stringify(text[position])}`;
  return refused('json_invalid', `${found} at position ${position} (line ${line}, column ${column})`, [position]);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings may not hold them
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Offset of the first character at which `text` stops being JSON; the engine's own messages leave it out. */
function errorPosition(text: string): number {
  const open: string[] = [];
  let at = 0;
  let expect: 'value' | 'first' | 'key' | 'after' = 'value';
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    while (at < text.length && ' \t\r\n'.includes(text[at]!)) at += 1;
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
      while (at < text.length && ' \t\r\n'.includes(text[at]!)) at += 1;
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
