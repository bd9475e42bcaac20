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

/** Booleans as text, in any letter case, as the reference system reads them. */
export const YES: readonly string[] = ['true', 't', 'yes', 'y', 'on', '1'];
/** The same for false. */
export const NO: readonly string[] = ['false', 'f', 'no', 'n', 'off', '0'];
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
/** A form has no other way to say it than an empty text, or what a browser makes of a null. */
const NULL = /^(?:null)?$/;

interface Validators {
  /** Stops at the first violation. */
  readonly quick: Validator;
  /** Finds several hundred. */
  readonly thorough: Validator;
  /** The same, and yields after each stretch of work; its `errors` hold until another value is checked. */
  readonly sliced: Validator<Generator<void, boolean>>;
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
 * Like `check`, for values that arrive as text: numbers in decimal notation, booleans (see `YES`), "null" and lists of one are converted in `value`
 * itself where the schema does not want text.
 */
export function coerced<T>(name: SchemaName, value: unknown, where: Origin = 'query'): T {
  const validate = validator('thorough', name);
  if (validate(value)) return value as T;
  // What a first round took out of a list of one, or put into one, may still be text where a number is wanted.
  for (let round = 0; round < 2 && convertTexts(validate.errors ?? [], value); round += 1) if (validate(value)) return value as T;
  throw failure(validate.errors, value, where);
}

/** Converts the texts that stand where `errors` want something else; whether there were any. */
function convertTexts(errors: readonly ErrorObject[], value: unknown): boolean {
  let converted = false;
  for (const { keyword, params, instancePath } of errors) {
    const wanted = wantedTypes(keyword, params);
    if (wanted.length === 0) continue;
    const path = instancePath.split('/').slice(1).map(memberName);
    const last = path.pop();
    if (last === undefined) continue;
    let holder = value as Record<string, unknown>;
    for (const name of path) holder = holder[name] as Record<string, unknown>;
    const meant = readAs(wanted, holder[last]);
    if (meant === undefined) continue;
    holder[last] = meant;
    converted = true;
  }
  return converted;
}

/** The types that an error asks for, as names of JSON Schema; a list of allowed values asks for a null where it has one. */
function wantedTypes(keyword: string, params: Record<string, unknown>): readonly string[] {
  if (keyword === 'type') return String(params.type).split(',');
  return keyword === 'enum' && (params.allowedValues as unknown[]).includes(null) ? ['null'] : [];
}

/** What `given` says when it is read as one of `types`; undefined where it says none of them. */
function readAs(types: readonly string[], given: unknown): unknown {
  if (types.includes('array')) return typeof given === 'string' ? [given] : undefined;
  if (Array.isArray(given)) return given.length === 1 ? given[0] : undefined;
  if (typeof given !== 'string') return undefined;
  const word = given.slice(0, 8).toLowerCase();
  if (types.includes('boolean') && (YES.includes(word) || NO.includes(word))) return YES.includes(word);
  if ((types.includes('number') || types.includes('integer')) && NUMBER.test(given)) return Number(given);
  return types.includes('null') && NULL.test(given) ? null : undefined;
}

function failure(found: readonly ErrorObject[] | null | undefined, value: unknown, where: Origin): Failure {
  const errors = explain(found ?? [], value, where);
  return new Failure('invalid', summary(errors), { errors });
}
