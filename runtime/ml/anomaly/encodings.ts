import { createHash } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import { quote } from '../../base/names.js';
import { HALF_CHARACTER } from '../pickle/values.js';

/** Most different values of one field that are remembered; a field with more is one for `hash`. */
const MAX_CATEGORIES = 50_000;

/** Below this Python writes floats with an exponent. */
const SMALLEST_PLAIN = 1e-4;

/**
 * A value as Python's `str` writes it, `undefined` for null and absent ones. Numbers without a fraction are taken for integers, since JSON's
 * `1.0` reads as 1. Throws `bad_request` for lists, objects and half characters.
 */
export function pythonText(value: unknown, field: string, row: number): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string' && !HALF_CHARACTER.test(value)) return value;
  throw new Failure(
    'bad_request',
    `data: row ${row}, field ${quote(field)} is ${quote(value)}; it must be a text, a number, true, false or null.`,
    {
      errors: [{ type: 'value_error', loc: ['body', 'data', row, field], msg: 'must be a plain value' }],
    },
  );
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  if (Number.isInteger(value)) return BigInt(value).toString();
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : value < 0 ? '-inf' : 'nan';
  if (Math.abs(value) >= SMALLEST_PLAIN) return String(value);
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1');
}

/** How often each text occurs, missing values not counted. Works in turns. */
async function countTexts(values: Iterable<unknown>, field: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let row = 0;
  for (const value of values) {
    const text = pythonText(value, field, row);
    row += 1;
    if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1);
    if (counts.size > MAX_CATEGORIES) {
      throw new Failure(
        'bad_request',
        `Field ${quote(field)} has more than ${MAX_CATEGORIES} different values; encode it as "hash" or "numeric".`,
      );
    }
    if (row % 256 === 0) await breathe();
  }
  return counts;
}

/** In the order of code points, which is Python's. */
function sortedTexts(texts: Iterable<string>): string[] {
  return [...texts].sort(byCodePoint);
}

/** Compares as Python does; JavaScript's own order differs where surrogates meet U+E000 to U+FFFF. */
export function byCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i += 1) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** Surrogates stand for characters above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** How one encoding turns a field of objects into numbers. `State` is plain JSON: what it learned from the rows of a fit. */
interface Encoding<State extends object = object> {
  /** Learns from the values of a field, `undefined` where a row lacks it. Missing for encodings that need to learn nothing. */
  readonly learn?: (values: Iterable<unknown>, field: string) => State | Promise<State>;
  /** The names of its columns, one or more. */
  columns(field: string, state: State): readonly string[];
  /** Gives what turns a value into the numbers of those columns, written from `at` on; `row` and `field` are for messages. */
  writer(field: string, state: State): WriteValue;
  /** Whether plain JSON is a state of this encoding; files may hold anything. */
  isState(state: object): state is State;
}

/** Writes one value as numbers. */
export type WriteValue = (value: unknown, out: Float64Array, at: number, row: number) => void;

const NUMBER = /^\s*[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?\s*$/;

/** A number, or a text that Python's `float` reads as a finite one; anything else is 0. */
const numeric: Encoding = {
  columns: (field) => [field],
  isState: (state): state is object => typeof state === 'object',
  writer: () => (value, out, at) => {
    out[at] = numberOf(value);
  },
};

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && NUMBER.test(value) ? Number(value.replaceAll('_', '')) : 0;
}

/** Hashes lie below this. */
const HASHES = 1_000_000;

/** The first 32 bits of the MD5 of the value's text, modulo a million; 0 for missing values. Needs no learning, and keeps no values. */
const hash: Encoding = {
  columns: (field) => [field],
  isState: (state): state is object => typeof state === 'object',
  writer: (field) => (value, out, at, row) => {
    const text = pythonText(value, field, row);
    out[at] = text === undefined ? 0 : createHash('md5').update(text).digest().readUInt32BE(0) % HASHES;
  },
};

interface Labels {
  readonly labels: readonly string[];
}

/** 1 and up for the texts of the fit in their order; 0 for any other and for missing values. */
const label: Encoding<Labels> = {
  learn: async (values, field) => ({ labels: sortedTexts((await countTexts(values, field)).keys()) }),
  columns: (field) => [field],
  isState: (state): state is Labels => isTexts((state as Partial<Labels>).labels),
  writer: (field, { labels }) => {
    const numbers = new Map(labels.map((text, index) => [text, index + 1]));
    return (value, out, at, row) => {
      out[at] = numbers.get(pythonText(value, field, row) as string) ?? 0;
    };
  },
};

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

interface Categories {
  readonly categories: readonly string[];
}

/** Columns of one field; categories beyond it, in their order, are as unseen ones. */
const MAX_COLUMNS = 100;

/** A column for each category of the fit, 1 in that of the value; all 0 for unseen and missing values, and one column of 0 where there is none. */
const onehot: Encoding<Categories> = {
  learn: async (values, field) => ({ categories: sortedTexts((await countTexts(values, field)).keys()).slice(0, MAX_COLUMNS) }),
  columns: (field, { categories }) => (categories.length === 0 ? [field] : categories.map((category) => `${field}_${category}`)),
  isState: (state): state is Categories => {
    const { categories } = state as Partial<Categories>;
    return Array.isArray(categories) && categories.length <= MAX_COLUMNS && categories.every((one) => typeof one === 'string');
  },
  writer: (field, { categories }) => {
    const places = new Map(categories.map((category, index) => [category, index]));
    return (value, out, at, row) => {
      const place = places.get(pythonText(value, field, row) as string);
      out.fill(0, at, at + Math.max(1, categories.length));
      if (place !== undefined) out[at + place] = 1;
    };
  },
};

const TRUE_WORDS = new Set(['true', 'yes', '1', 'on', 't', 'y']);

/** 1 for true, numbers other than 0, and the words for yes in any case; else 0. */
const binary: Encoding = {
  columns: (field) => [field],
  isState: (state): state is object => typeof state === 'object',
  writer: () => (value, out, at) => {
    out[at] = typeof value === 'string' ? Number(TRUE_WORDS.has(value.trim().toLowerCase())) : Number(isTrue(value));
  },
};

function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'number' && value !== 0);
}

interface Shares {
  /** Pairs, since a member named `__proto__` would be none. */
  readonly frequencies: readonly (readonly [text: string, share: number])[];
}

/** The share of the value among those of the fit, missing ones not counted; half the smallest share for unseen and missing values. */
const frequency: Encoding<Shares> = {
  learn: async (values, field) => {
    const counts = await countTexts(values, field);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return { frequencies: sortedTexts(counts.keys()).map((text) => [text, counts.get(text)! / total]) };
  },
  columns: (field) => [field],
  isState: (state): state is Shares => {
    const { frequencies } = state as Partial<Shares>;
    return Array.isArray(frequencies) && frequencies.every(isShare);
  },
  writer: (field, { frequencies }) => {
    const shares = new Map(frequencies);
    const least = frequencies.reduce((smallest, [, share]) => Math.min(smallest, share), 1);
    const unseen = frequencies.length === 0 ? 0 : least / 2;
    return (value, out, at, row) => {
      out[at] = shares.get(pythonText(value, field, row) as string) ?? unseen;
    };
  },
};

function isShare(one: unknown): boolean {
  return Array.isArray(one) && one.length === 2 && typeof one[0] === 'string' && typeof one[1] === 'number';
}

// biome-ignore lint/suspicious/noExplicitAny: each encoding has a state of its own
type AnyEncoding = Encoding<any>;

/** The encodings of fields, by the names that a schema uses. */
export const ENCODINGS = { numeric, hash, label, onehot, binary, frequency } satisfies Record<string, AnyEncoding>;

/** The encoding of a name, `undefined` where there is none. */
export function encodingOf(name: string): AnyEncoding | undefined {
  return Object.hasOwn(ENCODINGS, name) ? ENCODINGS[name as keyof typeof ENCODINGS] : undefined;
}
