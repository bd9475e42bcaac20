import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { liesInside } from '../../config/names.js';
import { pythonSchema } from './python-schema.js';
import type { Schema } from './python-types.js';

const MAX_FILE_BYTES = 256 * 1024;
/** Schemas kept by file, name and time of change; the oldest goes first. */
const MAX_KEPT = 64;

const kept = new Map<string, Schema>();

/**
 * The JSON Schema that a project's `schema` stands for: a JSON file below its directory, a definition of it, or a model class of a Python file, which
 * is read without being run. Throws `bad_request` that names the file, the line where there is one, and what is wrong.
 */
export async function answerSchema(directory: string, reference: string): Promise<Schema> {
  const { file, name } = partsOf(reference);
  const path = join(directory, file);
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFile() || !liesInside(directory, path)) {
    throw unusable(reference, `there is no file ${file} in the project's directory ${directory}`);
  }
  if (stats.size > MAX_FILE_BYTES) throw unusable(reference, `${file} has ${stats.size} bytes; the limit is ${MAX_FILE_BYTES}`);
  const key = [path, name, stats.mtimeMs, stats.size, stats.ino].join('\0');
  const known = kept.get(key);
  if (known) return known;
  const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  const schema = file.endsWith('.py') ? readPython(reference, text, name) : readJson(reference, text, name);
  kept.set(key, schema);
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
  return schema;
}

/** What a schema is called towards a provider: the definition or class, else the file's own name. */
export function schemaName(reference: string): string {
  const { file, name } = partsOf(reference);
  const own = file.slice(file.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
  // Hosted APIs take no other characters.
  return (name === '' ? own : name).replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

function partsOf(reference: string): { file: string; name: string } {
  const [file = '', name = ''] = reference.split('::');
  return { file, name };
}

function readPython(reference: string, text: string, name: string): Schema {
  try {
    return pythonSchema(text, name);
  } catch (failure) {
    if (failure instanceof Failure) throw unusable(reference, failure.message);
    throw failure;
  }
}

function readJson(reference: string, text: string, name: string): Schema {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch (cause) {
    throw unusable(reference, `the file is no JSON: ${(cause as Error).message}`);
  }
  if (!isObject(whole)) throw unusable(reference, 'the file must hold one JSON object, a JSON Schema');
  if (name === '') return whole;
  const place = ['$defs', 'definitions'].find((one) => isObject(whole[one]) && Object.hasOwn(whole[one], name));
  if (place !== undefined) return { $ref: `#/${place}/${name}`, $defs: whole.$defs, definitions: whole.definitions };
  const names = ['$defs', 'definitions'].flatMap((one) => Object.keys(isObject(whole[one]) ? whole[one] : {}));
  throw unusable(reference, `the file defines no ${name}; it defines ${names.join(', ') || 'nothing'}`);
}

function unusable(reference: string, reason: string): Failure {
  return new Failure('bad_request', `The schema ${reference} of the project cannot be used: ${reason}.`, { code: 'SchemaUnusable' });
}
