import type { ColumnValues } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { quote } from '../../base/names.js';
import { encodingOf } from '../anomaly/encodings.js';
import { type Cells, MAX_NAME_CHARACTERS, wrongValue } from '../cells.js';

/** Numbers beyond this are refused: detectors take no larger ones. */
export const LARGEST_SAMPLE = 1e100;

/** A sample's numbers by key. A text that no schema covers is left out; what is null or not there has no number. */
export interface Sample {
  readonly numbers: ReadonlyMap<string, number | null>;
  /** Texts that were left out, by key. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Encodings that learn from all rows of a fit cannot follow a stream. */
const STATELESS = ['numeric', 'hash', 'binary'];

/** Throws `invalid` for an encoding that streams cannot use. */
export function checkSchema(schema: Readonly<Record<string, string>> | null): void {
  for (const [field, encoding] of Object.entries(schema ?? {})) {
    if (STATELESS.includes(encoding)) continue;
    throw new Failure(
      'invalid',
      `schema: field ${quote(field)} has the encoding ${quote(encoding)}; a stream can use ${STATELESS.join(', ')}. The other encodings learn from all rows of a fit.`,
      { errors: [{ type: 'enum', loc: ['body', 'schema', field], msg: `must be one of ${STATELESS.join(', ')}`, input: encoding }] },
    );
  }
}

/** The values of a sample by key; a list of numbers has the keys f0, f1 and so on. Throws `invalid` for what is neither object nor list. */
export function sampleFields(value: unknown, row: number): Record<string, unknown> {
  if (Array.isArray(value)) return Object.fromEntries(value.map((item: unknown, index) => [`f${index}`, item]));
  if (isObject(value)) return value;
  throw new Failure('invalid', `Row ${row} is ${quote(value)}; a sample is an object, or a list of numbers.`, {
    errors: [{ type: 'type', loc: ['body', 'data', row], msg: 'must be an object or a list', input: value }],
  });
}

function readPlain(values: Record<string, unknown>, row: number): Sample {
  const numbers = new Map<string, number | null>();
  const texts = new Map<string, string>();
  for (const key in values) {
    const value = values[key];
    if (key === '' || key.length > MAX_NAME_CHARACTERS)
      throw wrongValue(row, key.slice(0, 40), value, `is under a key of ${key.length} characters; 1 to ${MAX_NAME_CHARACTERS} are allowed`);
    if (value === null) numbers.set(key, null);
    else if (typeof value === 'boolean') numbers.set(key, Number(value));
    else if (typeof value === 'string') texts.set(key, value);
    else if (typeof value === 'number' && Math.abs(value) <= LARGEST_SAMPLE) numbers.set(key, value);
    else throw wrongValue(row, key, value, `is no number up to ${LARGEST_SAMPLE}, truth value, text or null`);
  }
  return { numbers, texts };
}

function readEncoded(values: Record<string, unknown>, schema: Readonly<Record<string, string>>, row: number): Sample {
  const numbers = new Map<string, number | null>();
  const out = new Float64Array(1);
  for (const [field, encoding] of Object.entries(schema)) {
    if (!Object.hasOwn(values, field)) continue;
    encodingOf(encoding)!.writer(field, {})(values[field], out, 0, row);
    if (!(Math.abs(out[0]!) <= LARGEST_SAMPLE)) throw wrongValue(row, field, values[field], `is no number up to ${LARGEST_SAMPLE}`);
    numbers.set(field, values[field] === null ? null : out[0]!);
  }
  return { numbers, texts: new Map() };
}

/** The numbers of a sample. Throws `invalid` naming row, key and value. */
export function sampleOf(value: unknown, row: number, schema: Readonly<Record<string, string>> | null): Sample {
  const values = sampleFields(value, row);
  return schema === null ? readPlain(values, row) : readEncoded(values, schema, row);
}

/** Throws `invalid` where a sample lacks a key that every learned sample had, or has a text under one that had numbers. */
export function checkKeys(
  { numbers, texts }: Sample,
  row: number,
  keys: { readonly columns: readonly string[]; readonly required: readonly string[] },
): void {
  for (const key of keys.columns) {
    const text = texts.get(key);
    if (text !== undefined) throw wrongValue(row, key, text, 'is a text where the detector learned numbers');
  }
  for (const key of keys.required) {
    if (numbers.has(key)) continue;
    const msg = `row ${row} lacks the key ${quote(key)}, which every sample had that the detector learned from`;
    throw new Failure('invalid', `${msg[0]!.toUpperCase()}${msg.slice(1)}; send it, null where it is unknown.`, {
      errors: [{ type: 'missing', loc: ['body', 'data', row, key], msg }],
    });
  }
}

/** Samples by column, those of `columns` alone where they are given. */
export function cellsOfSamples(samples: readonly Sample[], columns?: readonly string[]): Cells {
  const names = columns ?? [...new Set(samples.flatMap(({ numbers }) => [...numbers.keys()]))];
  const out = names.map((name): ColumnValues => {
    const values: ColumnValues = { name, kind: 'f64', numbers: new Float64Array(samples.length) };
    for (const [row, sample] of samples.entries()) {
      const value = sample.numbers.get(name) ?? null;
      if (value === null) values.valid ??= new Uint8Array(Math.ceil(samples.length / 8)).fill(0xff);
      if (value === null) values.valid![row >> 3]! &= ~(1 << (row & 7));
      else values.numbers![row] = value;
    }
    return values;
  });
  return { rows: samples.length, columns: out };
}
