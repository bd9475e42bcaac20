import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ErrorObject } from 'ajv';
import type { SchemaName } from './endpoint.js';
import { Failure } from './errors.js';
import { explain, memberName, summary } from './violations.js';

/** Where a checked value came from; the first element of each error's `loc`. */
export type Origin = 'body' | 'query' | 'path' | 'file';

/** A validator as `scripts/validators.mjs` makes it; it fills defaults into the value, and leaves what it found wrong in `errors`. */
interface Validator<Outcome = boolean> {
  (value: unknown): Outcome;
  errors?: ErrorObject[] | null;
}

/** Booleans as text, as the reference system reads them. */
const YES = /^(?:true|t|yes|y|on|1)$/i;
const NO = /^(?:false|f|no|n|off|0)$/i;

interface Validators {
  /** Stops at the first violation. */
  readonly quick: Validator;
  /** Finds several hundred. */
  readonly thorough: Validator;
  /** The same, and yields after each stretch of work; its `errors` hold until another value is checked. */
  readonly sliced: Validator<Generator<void, boolean>>;
  /** Finds several hundred after it has converted text. */
  readonly coercing: Validator;
}
type Kind = keyof Validators;

const loadModule = createRequire(import.meta.url);
const loaded = new Map<string, Readonly<Record<string, Validators[Kind]>>>();

/** The validator of a schema; its module is loaded when the first schema of a file is asked for. An `Error` for a schema that does not exist. */
function validator<K extends Kind>(kind: K, name: SchemaName): Validators[K] {
  const [area = '', shape = ''] = name.split('#');
  const file = `${area}.${kind}.cjs`;
  let shapes = loaded.get(file);
  if (!shapes) {
    const path = join(import.meta.dirname, file);
    if (!existsSync(path)) throw new Error(`no validators for ${name} at ${path}; run scripts/schemas.mjs`);
    shapes = loadModule(path) as Record<string, Validators[Kind]>;
    loaded.set(file, shapes);
  }
  const found = shapes[shape];
  if (!found) throw new Error(`no shape ${shape} in schemas/${area}.json`);
  return found as Validators[K];
}

/**
 * Checks `value` against a schema and returns it typed. Defaults of the schema are filled into `value` itself.
 * Throws `Failure('invalid')` whose `errors` name each offending path, at most 50 of them.
 */
export function check<T>(name: SchemaName, value: unknown, where: Origin = 'body'): T {
  const validate = validator('quick', name);
  if (validate(value)) return value as T;
  const all = validator('thorough', name);
  if (all(value)) return value as T;
  throw failure(all.errors, value, where);
}

/** Like `check`, for large values: awaits what `pause` returns some 10,000 times a second. */
export async function checkInTurns<T>(
  name: SchemaName,
  value: unknown,
  pause: () => Promise<void> | undefined,
  where: Origin = 'body',
): Promise<T> {
  const validate = validator('sliced', name);
  const run = validate(value);
  for (let step = run.next(); ; step = run.next()) {
    if (step.done && step.value) return value as T;
    if (step.done) throw failure(validate.errors, value, where);
    await pause();
  }
}

/**
 * Like `check`, for values that arrive as text: numbers, booleans (see `YES`) and one-element lists are converted in `value` itself.
 */
export function coerced<T>(name: SchemaName, value: unknown, where: Origin = 'query'): T {
  const validate = validator('coercing', name);
  if (validate(value)) return value as T;
  // Ajv itself converts only lower-case "true" and "false".
  if (convertBooleans(validate.errors ?? [], value) && validate(value)) return value as T;
  throw failure(validate.errors, value, where);
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

function failure(found: readonly ErrorObject[] | null | undefined, value: unknown, where: Origin): Failure {
  const errors = explain(found ?? [], value, where);
  return new Failure('invalid', summary(errors), { errors });
}
