import { createHash } from 'node:crypto';
import { countTexts, pythonText, sortedTexts } from './python-texts.js';

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
