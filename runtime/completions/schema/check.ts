import { isDeepStrictEqual } from 'node:util';
import { canonicalJson, isObject } from '../../base/json.js';
import { Matcher } from '../regex/match.js';
import { PatternError, parseRegex } from '../regex/syntax.js';
import { cut, type SchemaDocument, type SchemaObject } from './document.js';
import { anchored, findFormat } from './formats.js';

/** What is wrong with a value, and where in it. */
interface Flaw {
  /** Names and indexes, the outermost first. */
  readonly path: readonly string[];
  readonly text: string;
}

const MAX_DEPTH = 200;
/** How far a quotient may be from a whole number, relative to itself. */
const ROUNDING = 1e-9;

const LENGTHS = {
  string: (value: unknown) => (typeof value === 'string' ? [...value].length : undefined),
  array: (value: unknown) => (Array.isArray(value) ? value.length : undefined),
  object: (value: unknown) => (isObject(value) ? Object.keys(value).length : undefined),
};

/** Keywords that bound how much there is: what is counted, its name, and whether the argument is the least. */
const COUNTS: Readonly<Record<string, [keyof typeof LENGTHS, string, boolean]>> = {
  minLength: ['string', 'characters', true],
  maxLength: ['string', 'characters', false],
  minItems: ['array', 'items', true],
  maxItems: ['array', 'items', false],
  minProperties: ['object', 'properties', true],
  maxProperties: ['object', 'properties', false],
};

/** Keywords of numbers: a phrase where `value` breaks the bound. */
const NUMBERS: Readonly<Record<string, (value: number, bound: number, schema: SchemaObject) => string | undefined>> = {
  minimum: (value, bound, schema) =>
    value < bound || (schema.exclusiveMinimum === true && value === bound) ? `below the minimum ${bound}` : undefined,
  maximum: (value, bound, schema) =>
    value > bound || (schema.exclusiveMaximum === true && value === bound) ? `above the maximum ${bound}` : undefined,
  exclusiveMinimum: (value, bound) => (value <= bound ? `not above ${bound}` : undefined),
  exclusiveMaximum: (value, bound) => (value >= bound ? `not below ${bound}` : undefined),
  multipleOf: (value, bound) => {
    const quotient = value / bound;
    return Math.abs(quotient - Math.round(quotient)) > ROUNDING * Math.max(1, Math.abs(quotient)) ? `no multiple of ${bound}` : undefined;
  },
};

/** The name of a value's type in JSON Schema; whole numbers are `integer`. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function renderValue(value: unknown): string {
  return cut(JSON.stringify(value) ?? String(value));
}

/** Checks values against a schema: JSON Schema 2020-12 and the older drafts' words, without `unevaluated…` and dynamic scopes. Every step is counted as work. */
export class SchemaChecker {
  readonly #results = new Map<object, Map<unknown, Flaw | null>>();
  readonly #enums = new Map<readonly unknown[], Set<unknown>>();
  readonly #matchers = new Map<string, Matcher | null>();
  #depth = 0;

  constructor(readonly document: SchemaDocument) {}

  get #work() {
    return this.document.work;
  }

  /** The first flaw of a value as a sentence without its end (`$.a is 3, …`); null for a valid one. */
  flawOf(value: unknown, schema: unknown = this.document.root): string | null {
    const flaw = this.#flaw(schema, value);
    if (!flaw) return null;
    const path = flaw.path.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${cut(step)}`)).join('');
    return `$${path} ${flaw.text}`;
  }

  /** Whether a text matches a pattern; true for a pattern that cannot be read. */
  matches(pattern: string, text: string): boolean {
    let matcher = this.#matchers.get(pattern);
    if (matcher === undefined) {
      try {
        matcher = new Matcher(parseRegex(pattern, this.#work), this.#work);
      } catch (error) {
        if (!(error instanceof PatternError)) throw error;
        matcher = null;
      }
      this.#matchers.set(pattern, matcher);
    }
    return matcher?.test(text, this.#work) ?? true;
  }

  #flaw(schema: unknown, value: unknown): Flaw | null {
    this.#work.spend();
    if (schema === false) return flawOf(`is ${renderValue(value)}, where nothing is allowed`);
    if (!isObject(schema)) return null;
    let results = this.#results.get(schema);
    if (!results) {
      results = new Map();
      this.#results.set(schema, results);
    }
    const known = results.get(value);
    if (known !== undefined) return known;
    if (this.#depth >= MAX_DEPTH) return flawOf(`is nested deeper than ${MAX_DEPTH}`);
    // A reference that comes back here adds nothing.
    results.set(value, null);
    this.#depth += 1;
    const flaw = this.#whole(schema, value);
    this.#depth -= 1;
    results.set(value, flaw);
    return flaw;
  }

  #whole(schema: SchemaObject, value: unknown): Flaw | null {
    if (schema.nullable === true && value === null) return null;
    return (
      this.#plain(schema, value) ??
      (typeof value === 'string' ? this.#string(schema, value) : null) ??
      (Array.isArray(value) ? this.#array(schema, value) : null) ??
      (isObject(value) ? this.#object(schema, value) : null) ??
      this.#combined(schema, value)
    );
  }

  #plain(schema: SchemaObject, value: unknown): Flaw | null {
    if (schema.type !== undefined) {
      const types = [schema.type].flat();
      const own = typeOf(value);
      if (!types.includes(own) && !(own === 'integer' && types.includes('number')))
        return flawOf(`is ${renderValue(value)}, which is not of type ${types.join(' or ')}`);
    }
    if ('const' in schema && !this.#equal(schema.const, value)) return flawOf(`is ${renderValue(value)}, not ${renderValue(schema.const)}`);
    if (Array.isArray(schema.enum) && !this.#listed(schema.enum, value))
      return flawOf(`is ${renderValue(value)}, which its enum does not have`);
    for (const [keyword, [kind, what, least]] of Object.entries(COUNTS)) {
      const bound = schema[keyword];
      const count = typeof bound === 'number' ? LENGTHS[kind](value) : undefined;
      if (count !== undefined && (least ? count < (bound as number) : count > (bound as number)))
        return flawOf(`has ${count} ${what}, and ${keyword} is ${bound}`);
    }
    if (typeof value === 'number') {
      for (const [keyword, broken] of Object.entries(NUMBERS)) {
        const bound = schema[keyword];
        const how = typeof bound === 'number' ? broken(value, bound, schema) : undefined;
        if (how) return flawOf(`is ${value}, ${how}`);
      }
    }
    return null;
  }

  #listed(values: readonly unknown[], value: unknown): boolean {
    if (typeof value === 'object' && value !== null) return values.some((one) => this.#equal(one, value));
    let known = this.#enums.get(values);
    if (!known) {
      this.#work.spend(values.length / 4);
      known = new Set(values);
      this.#enums.set(values, known);
    }
    return known.has(value);
  }

  #equal(a: unknown, b: unknown): boolean {
    this.#work.spend();
    if (typeof a !== 'object' || a === null || typeof b !== 'object') return a === b;
    this.#work.spend(JSON.stringify(a).length / 16);
    return isDeepStrictEqual(a, b);
  }

  #string(schema: SchemaObject, value: string): Flaw | null {
    this.#work.spend(value.length / 64);
    if (typeof schema.pattern === 'string' && !this.matches(schema.pattern, value))
      return flawOf(`is ${renderValue(value)}, which does not match the pattern ${cut(schema.pattern)}`);
    const format = typeof schema.format === 'string' ? findFormat(schema.format) : undefined;
    if (!format) return null;
    const accepted = format.accepted ?? format.written;
    const fits = typeof accepted === 'function' ? accepted(value) : this.matches(anchored(accepted), value);
    return fits ? null : flawOf(`is ${renderValue(value)}, which is no ${schema.format}`);
  }

  #array(schema: SchemaObject, value: readonly unknown[]): Flaw | null {
    const { prefix, rest } = itemsOf(schema);
    for (const [at, item] of value.entries()) {
      const flaw = this.#flaw(at < prefix.length ? prefix[at] : (rest ?? true), item);
      if (flaw) return below(String(at), flaw);
    }
    if (schema.uniqueItems === true) {
      const seen = new Set<string>();
      for (const item of value) {
        const text = canonicalJson(item);
        this.#work.spend(1 + text.length / 64);
        if (seen.has(text)) return flawOf(`has the item ${renderValue(item)} twice, and uniqueItems is true`);
        seen.add(text);
      }
    }
    if (schema.contains === undefined) return null;
    const found = value.filter((item) => !this.#flaw(schema.contains, item)).length;
    const least = typeof schema.minContains === 'number' ? schema.minContains : 1;
    const most = typeof schema.maxContains === 'number' ? schema.maxContains : Infinity;
    return found >= least && found <= most ? null : flawOf(`has ${found} items that fit "contains"`);
  }

  #object(schema: SchemaObject, value: SchemaObject): Flaw | null {
    for (const name of listOf(schema.required)) {
      this.#work.spend();
      if (!Object.hasOwn(value, name)) return flawOf(`lacks the property "${cut(name)}"`);
    }
    for (const [name, member] of Object.entries(value)) {
      for (const part of this.membersOf(schema, name)) {
        const flaw = this.#flaw(part, member);
        if (flaw) return below(name, flaw);
      }
      const flaw = schema.propertyNames === undefined ? null : this.#flaw(schema.propertyNames, name);
      if (flaw) return flawOf(`has a property whose name ${flaw.text}`);
    }
    return this.#dependencies(schema, value);
  }

  /** The schemas that a member of this name must fit by one schema's `properties`, `patternProperties` and `additionalProperties`. */
  membersOf(schema: SchemaObject, name: string): unknown[] {
    const out: unknown[] = [];
    this.#work.spend();
    if (isObject(schema.properties) && Object.hasOwn(schema.properties, name)) out.push(schema.properties[name]);
    if (isObject(schema.patternProperties)) {
      for (const [pattern, part] of Object.entries(schema.patternProperties)) if (this.matches(pattern, name)) out.push(part);
    }
    if (out.length === 0 && schema.additionalProperties !== undefined) out.push(schema.additionalProperties);
    return out;
  }

  #dependencies(schema: SchemaObject, value: SchemaObject): Flaw | null {
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
      const all = schema[keyword];
      for (const [name, wanted] of isObject(all) ? Object.entries(all) : []) {
        this.#work.spend();
        if (!Object.hasOwn(value, name)) continue;
        const missing = listOf(wanted).find((other) => !Object.hasOwn(value, other));
        if (missing !== undefined) return flawOf(`has "${cut(name)}" without "${cut(missing)}"`);
        const flaw = Array.isArray(wanted) ? null : this.#flaw(wanted, value);
        if (flaw) return flaw;
      }
    }
    return null;
  }

  #combined(schema: SchemaObject, value: unknown): Flaw | null {
    for (const ref of [schema.$ref, schema.$dynamicRef]) {
      const flaw = typeof ref === 'string' ? this.#flaw(this.document.resolve(schema, ref), value) : null;
      if (flaw) return flaw;
    }
    for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) {
      const flaw = this.#flaw(part, value);
      if (flaw) return flaw;
    }
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      const parts = schema[keyword];
      if (!Array.isArray(parts)) continue;
      const fitting = parts.filter((part) => !this.#flaw(part, value)).length;
      if (fitting === 0 || (keyword === 'oneOf' && fitting > 1))
        return flawOf(`is ${renderValue(value)}, which fits ${fitting} of ${keyword}`);
    }
    if (schema.not !== undefined && !this.#flaw(schema.not, value)) return flawOf(`is ${renderValue(value)}, which "not" excludes`);
    if (schema.if === undefined) return null;
    const branch = this.#flaw(schema.if, value) ? schema.else : schema.then;
    return branch === undefined ? null : this.#flaw(branch, value);
  }
}

function flawOf(text: string): Flaw {
  return { path: [], text };
}

function below(step: string, flaw: Flaw): Flaw {
  return { path: [step, ...flaw.path], text: flaw.text };
}

/** The texts of a list. */
export function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The schemas of an array's first items, and of those behind them (undefined = nothing is said); draft-07's list of `items` too. */
export function itemsOf(schema: SchemaObject): { prefix: readonly unknown[]; rest: unknown } {
  if (Array.isArray(schema.prefixItems)) return { prefix: schema.prefixItems, rest: schema.items };
  if (Array.isArray(schema.items)) return { prefix: schema.items, rest: schema.additionalItems };
  return { prefix: [], rest: schema.items };
}
