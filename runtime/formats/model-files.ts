import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { isInside } from '../base/files.js';

/**
 * A file of a model as messages name it: its path below the model's folder with '/', since a model may have several files of one name, and no path of this
 * machine; its own name where it lies elsewhere or no folder is given.
 */
export function fileName(path: string, folder?: string): string {
  return folder !== undefined && isInside(folder, path) ? relative(folder, path).split(sep).join('/') : basename(path);
}

const SNAPSHOT = /[/\\]models--([^/\\]+)[/\\]snapshots[/\\][^/\\]+[/\\]*$/;

/** A model's folder as messages name it: a snapshot of the hub's cache, which is called by a hash, by its repository. */
export function folderName(folder: string): string {
  return SNAPSHOT.exec(folder)?.[1]?.replaceAll('--', '/') ?? basename(folder);
}

/** A JSON object as a file has it, members unchecked. */
export type Json = Readonly<Record<string, unknown>>;

/** Bytes of one settings file; the largest vocabularies take 20 MB as JSON. */
const FILE_LIMIT_BYTES = 128 * 1024 * 1024;

/** Reads a JSON file of a model's folder; undefined where there is none. Throws `Failure('invalid')` that names the file. */
export function readJsonFile(folder: string, name: string): Json | undefined {
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

/** The `Failure('invalid')` of a file of a model's folder; `what` follows its name. */
export function wrongFile(folder: string, name: string, what: string, cause?: unknown): Failure {
  return new Failure('invalid', `${name} of ${folderName(folder)} ${what}. Get the file again from its source.`, {
    code: 'InvalidModelFile',
    cause,
  });
}

/** How a model of the hub gets onto this machine, as part of a sentence: by the command, and by the request for those who have no command line. */
export function howToFetch(id: string): string {
  return `run "quern pull ${id}" or send POST /v1/models/download with ${JSON.stringify({ model_name: id })} to the core API`;
}

/** What is not here, and how it gets here. */
interface Missing {
  /** A clause, such as `it is not on this machine; looked in ...`. */
  readonly why: string;
  /** What to do, each a clause; the first that works is enough. */
  readonly remedies: readonly string[];
  readonly code?: string;
  readonly lookedIn?: readonly string[];
}

/** The failure for a model that is not on this machine, or not whole: `not_found`, whoever needs it. */
export function modelMissing(name: string, { why, remedies, code = 'ModelNotFound', lookedIn }: Missing): Failure {
  const remedy = remedies.join(', or ');
  const message = `Model "${name}" not found: ${why}. ${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`;
  return new Failure('not_found', message, { code, fields: { model: name, ...(lookedIn ? { looked_in: lookedIn } : {}) } });
}
