import { createRequire } from 'node:module';
import { isObject, type JsonObject } from '../base/json.js';
import { once } from '../base/once.js';

/** The TOML library, loaded at the first file that needs it. */
const toml = once(() => createRequire(import.meta.url)('smol-toml') as typeof import('smol-toml'));

/** What a TOML text says, as plain JSON values: dates become their text. Throws an `Error` that says why and where, and quotes nothing of the text. */
export function readToml(text: string): unknown {
  const { parse, TomlError } = toml();
  try {
    return plain(parse(text));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [reason = ''] = cause.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw new Error(`${reason} at line ${cause.line}, column ${cause.column}`);
  }
}

/** Writes a configuration as TOML. TOML has no null: such members are left out, which means the same in a project file. */
export function writeToml(config: JsonObject): string {
  return `${toml().stringify(withoutNulls(config)).trimEnd()}\n`;
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isObject(value) ? mapped(value, plain) : value;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  if (!isObject(value)) return value;
  return mapped(Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null && item !== undefined)), withoutNulls);
}

function mapped(value: JsonObject, change: (item: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]));
}
