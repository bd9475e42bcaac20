import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A JSON Schema as parsed text. */
export type JsonSchema = Record<string, unknown>;

const loaded = new Map<string, JsonSchema>();

/**
 * The schema file at `path` (relative to `schemas/`, without `.json`), read once per process.
 * Throws an `Error` when there is no such file: a wrong schema name is a programming mistake, not the caller's.
 */
export function schemaFile(path: string): JsonSchema {
  const known = loaded.get(path);
  if (known) return known;
  const file = join(import.meta.dirname, `${path}.json`);
  if (!existsSync(file)) throw new Error(`no schema file ${path}.json; run scripts/schemas.mjs`);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as JsonSchema;
  loaded.set(path, schema);
  return schema;
}

/** Splits a reference found in file `from` into the file it points into and the JSON pointer there. */
export function resolveReference(from: string, reference: string): { file: string; pointer: string } {
  const [path = '', pointer = ''] = reference.split('#');
  if (path === '') return { file: from, pointer };
  return { file: posix.join(posix.dirname(from), path).replace(/\.json$/, ''), pointer };
}
