import { createRequire } from 'node:module';
import type { Options, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { SchemaName } from './endpoint.js';
import { Failure } from './errors.js';
import { eachReference, resolveReference, schemaFile } from './files.js';
import { explain, summary } from './violations.js';

/** Where a checked value came from; the first element of each error's `loc`. */
export type Origin = 'body' | 'query' | 'path' | 'file';

/** Values with more nodes than this get only their first violation: collecting all of them costs time in proportion. */
const MAX_NODES_FOR_ALL_ERRORS = 20_000;
const BASE = 'schema://quern/';

/** One Ajv instance with its compiled validators. */
class Validators {
  readonly #options: Options;
  #loaded: Ajv2020 | undefined;
  readonly #compiled = new Map<SchemaName, ValidateFunction>();
  readonly #added = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Loaded at first use, and set for quick compiling: the schemas are checked by a test, and validators run once per request. */
  get #ajv(): Ajv2020 {
    if (this.#loaded) return this.#loaded;
    const require = createRequire(import.meta.url);
    const { Ajv2020 } = require('ajv/dist/2020') as typeof import('ajv/dist/2020.js');
    const { default: formats } = require('ajv-formats') as typeof import('ajv-formats');
    const fixed: Options = {
      strict: false,
      useDefaults: true,
      discriminator: true,
      verbose: true,
      validateSchema: false,
      code: { optimize: false },
    };
    this.#loaded = new Ajv2020({ ...fixed, ...this.#options });
    (formats as unknown as (ajv: Ajv2020) => void)(this.#loaded);
    return this.#loaded;
  }

  get(name: SchemaName): ValidateFunction {
    const known = this.#compiled.get(name);
    if (known) return known;
    const [file = '', shape = ''] = name.split('#');
    this.#add(file);
    const validate = this.#ajv.compile({ $ref: `${BASE}${file}.json#/$defs/${shape}` });
    this.#compiled.set(name, validate);
    return validate;
  }

  /** Adds a file and every file that it refers to. */
  #add(file: string): void {
    if (this.#added.has(file)) return;
    this.#added.add(file);
    const schema = schemaFile(file);
    this.#ajv.addSchema({ ...schema, $id: `${BASE}${file}.json` });
    eachReference(schema, (reference) => this.#add(resolveReference(file, reference).file));
  }
}

const quick = new Validators({ allErrors: false });
const thorough = new Validators({ allErrors: true });
const coercing = new Validators({ allErrors: true, coerceTypes: 'array' });

/**
 * Checks `value` against a schema and returns it typed. Defaults of the schema are filled into `value` itself.
 * Throws `Failure('invalid')` whose `errors` name each offending path, at most 50 of them.
 */
export function check<T>(name: SchemaName, value: unknown, where: Origin = 'body'): T {
  const validate = quick.get(name);
  if (validate(value)) return value as T;
  if (!smallerThan(value, MAX_NODES_FOR_ALL_ERRORS)) throw failure(validate, value, where);
  const all = thorough.get(name);
  if (all(value)) return value as T;
  throw failure(all, value, where);
}

/** Like `check`, for values that arrive as text: numbers, booleans and one-element lists are converted in `value` itself. */
export function coerced<T>(name: SchemaName, value: unknown, where: Origin = 'query'): T {
  const validate = coercing.get(name);
  if (validate(value)) return value as T;
  throw failure(validate, value, where);
}

/** Compiles a schema's validator now instead of at its first use, which takes tens of milliseconds for a large one. */
export function prepare(name: SchemaName): void {
  quick.get(name);
}

function failure(validate: ValidateFunction, value: unknown, where: Origin): Failure {
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
