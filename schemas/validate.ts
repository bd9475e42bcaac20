import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ErrorObject } from 'ajv';
import type { SchemaName } from './endpoint.js';
import { Failure } from './errors.js';
import { explain, memberName, summary } from './violations.js';

/** Where a checked value came from; the first element of each error's `loc`. */
export type Origin = 'body' | 'query' | 'path' | 'file';

/** Values with more nodes than this get only their first violation: collecting all of them costs time in proportion. */
const MAX_NODES_FOR_ALL_ERRORS = 20_000;

/** A validator as `scripts/validators.mjs` makes it; it fills defaults into the value, and leaves what it found wrong in `errors`. */
interface Validator {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
}

/** Booleans as text, as the reference system reads them. */
const YES = /^(?:true|t|yes|y|on|1)$/i;
const NO = /^(?:false|f|no|n|off|0)$/i;

/** Stops at the first violation; finds all; finds all after converting text. */
type Kind = 'quick' | 'thorough' | 'coercing';

const loadModule = createRequire(import.meta.url);
const loaded = new Map<string, Readonly<Record<string, Validator>>>();

/** The validator of a schema; its module is loaded when the first schema of a file is asked for. An `Error` for a schema that does not exist. */
function validator(kind: Kind, name: SchemaName): Validator {
  const [area = '', shape = ''] = name.split('#');
  const file = `${area}.${kind}.cjs`;
  let shapes = loaded.get(file);
  if (!shapes) {
    const path = join(import.meta.dirname, file);
    if (!existsSync(path)) throw new Error(`no validators for ${name} at ${path}; run scripts/schemas.mjs`);
    shapes = loadModule(path) as Record<string, Validator>;
    loaded.set(file, shapes);
  }
  const found = shapes[shape];
  if (!found) throw new Error(`no shape ${shape} in schemas/${area}.json`);
  return found;
}

/**
 * Checks `value` against a schema and returns it typed. Defaults of the schema are filled into `value` itself.
 * Throws `Failure('invalid')` whose `errors` name each offending path, at most 50 of them.
 */
export function check<T>(name: SchemaName, value: unknown, where: Origin = 'body'): T {
  const validate = validator('quick', name);
  if (validate(value)) return value as T;
  if (!smallerThan(value, MAX_NODES_FOR_ALL_ERRORS)) throw failure(validate, value, where);
  const all = validator('thorough', name);
  if (all(value)) return value as T;
  throw failure(all, value, where);
}

/**
 * Like `check`, for values that arrive as text: numbers, booleans (see `YES`) and one-element lists are converted in `value` itself.
 */
export function coerced<T>(name: SchemaName, value: unknown, where: Origin = 'query'): T {
  const validate = validator('coercing', name);
  if (validate(value)) return value as T;
  // Ajv itself converts only lower-case "true" and "false".
  if (convertBooleans(validate.errors ?? [], value) && validate(value)) return value as T;
  throw failure(validate, value, where);
}

/** Converts the texts that stand where `errors` want a boolean; whether there were any. */
function convertBooleans(errors: readonly ErrorObject[], value: unknown): boolean {
  let converted = false;
  for (const { keyword, params, instancePath } of errors) {
    if (keyword !== 'type' || !String(params.type).split(',').includes('boolean')) continue;
    const path = instancePath.split('/').slice(1).map(memberName);
    const last = path.pop();
    let holder = value as Record<string, unknown>;
    for (const name of path) holder = holder[name] as Record<string, unknown>;
    const text = last === undefined ? undefined : holder[last];
    if (typeof text !== 'string' || !(YES.test(text) || NO.test(text))) continue;
    holder[last!] = YES.test(text);
    converted = true;
  }
  return converted;
}

function failure(validate: Validator, value: unknown, where: Origin): Failure {
  const errors = explain(validate.errors ?? [], value, where);
  return new Failure('invalid', summary(errors), { errors });
}

/** Whether `value` has fewer than `limit` nodes; stops counting there. */
function smallerThan(value: unknown, limit: number): boolean {
  const rest: unknown[] = [value];
  let seen = 0;
  while (rest.length > 0) {
    seen += 1;
    if (seen >= limit) return false;
    const node = rest.pop();
    if (node === null || typeof node !== 'object') continue;
    const members = Array.isArray(node) ? node : Object.values(node);
    if (seen + rest.length + members.length >= limit) return false;
    for (const member of members) rest.push(member);
  }
  return true;
}
