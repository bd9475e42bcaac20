import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { folderName } from './file-names.js';

/** Bytes of one settings file; the largest vocabularies take 20 MB as JSON. */
const FILE_LIMIT_BYTES = 128 * 1024 * 1024;

/** A JSON object as a file has it, members unchecked. */
export type Json = Readonly<Record<string, unknown>>;

/** The `Failure('invalid')` of a file of a model's folder; `what` follows its name. */
export function wrongFile(folder: string, name: string, what: string, cause?: unknown): Failure {
  return new Failure('invalid', `${name} of ${folderName(folder)} ${what}. Get the file again from its source.`, {
    code: 'InvalidModelFile',
    cause,
  });
}

/** Reads a JSON file of a model's folder; undefined where there is none. Throws `Failure('invalid')` that names the file. */
export function jsonFile(folder: string, name: string): Json | undefined {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  const { size } = statSync(path);
  if (size > FILE_LIMIT_BYTES) throw wrongFile(folder, name, `has ${size} bytes; at most ${FILE_LIMIT_BYTES} are read`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw wrongFile(folder, name, 'is not JSON', error);
  }
  if (typeof value !== 'object' || value === null) throw wrongFile(folder, name, 'holds no object');
  return value as Json;
}
