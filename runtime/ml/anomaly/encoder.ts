import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { breathe } from '../../base/loop.js';
import { quote } from '../../base/names.js';
import { byCodePoint, ENCODINGS, encodingOf, type WriteValue } from './encodings.js';
import { MAX_COLUMNS, notFinite, type Rows, rowsOf, wrong } from './rows.js';

/** How objects become rows: the encoding of each field by its name. */
export type RowSchema = Readonly<Record<string, string>>;

/** An encoder as plain JSON, in the form that the reference system writes. */
export interface EncoderState {
  readonly version: 1;
  readonly schema: RowSchema;
  /** The fields in the order of their columns. */
  readonly feature_order: readonly string[];
  /** What each field's encoding learned. */
  readonly encoders: Readonly<Record<string, { readonly type: string } & Readonly<Record<string, unknown>>>>;
}

/** Turns objects into rows of 32-bit numbers, as it learned from the rows of a fit. */
export class RowEncoder {
  readonly state: EncoderState;
  /** The name of each column. */
  readonly features: readonly string[];
  readonly #fields: readonly { readonly field: string; readonly at: number; readonly width: number; readonly write: WriteValue }[];

  constructor(state: EncoderState) {
    this.state = state;
    const features: string[] = [];
    this.#fields = state.feature_order.map((field) => {
      const { type, ...learned } = state.encoders[field]!;
      const encoding = encodingOf(type)!;
      const columns = encoding.columns(field, learned);
      const at = features.length;
      features.push(...columns);
      return { field, at, width: columns.length, write: encoding.writer(field, learned) };
    });
    this.features = features;
  }

  /** Learns from the rows of a fit. Throws `bad_request` for an unknown encoding and for rows that are no objects. */
  static async learn(schema: RowSchema, data: readonly unknown[]): Promise<RowEncoder> {
    const fields = checkedSchema(schema);
    for (const [row, value] of data.entries()) {
      objectAt(value, row);
      if (row % 256 === 0) await breathe();
    }
    const encoders: Record<string, { type: string }> = {};
    for (const field of fields) {
      const type = schema[field]!;
      const state = await encodingOf(type)!.learn?.(valuesOf(data, field), field);
      encoders[field] = { type, ...state };
    }
    return new RowEncoder({ version: 1, schema, feature_order: fields, encoders });
  }

  /** The encoder of a file. Throws `invalid` where it is none. */
  static of(value: unknown): RowEncoder {
    if (!isState(value)) throw new Failure('invalid', 'The encoder of this model cannot be read: it is not one that was written here.');
    return new RowEncoder(value);
  }

  /** The rows of objects; a missing field counts as null. */
  rows(data: readonly unknown[]): Rows {
    return rowsOf(data.length, this.features.length, (row, out, at) => {
      const values = objectAt(data[row], row);
      for (const { field, at: place, width, write } of this.#fields) {
        write(Object.hasOwn(values, field) ? values[field] : undefined, out, at + place, row);
        for (let i = at + place; i < at + place + width; i += 1) {
          out[i] = Math.fround(out[i]!);
          if (!Number.isFinite(out[i])) throw notFinite(['data', row, field], `row ${row}, field ${quote(field)}`, values[field]);
        }
      }
    });
  }
}

function objectAt(value: unknown, row: number): Record<string, unknown> {
  if (isObject(value)) return value;
  throw wrong(['data', row], `row ${row} is ${quote(value)}; it must be an object, as the schema says`);
}

function* valuesOf(data: readonly unknown[], field: string): Generator<unknown> {
  for (const row of data as Record<string, unknown>[]) yield Object.hasOwn(row, field) ? row[field] : undefined;
}

/** Its fields in the order of Python's `sorted`. */
function checkedSchema(schema: RowSchema): string[] {
  const fields = Object.keys(schema).sort(byCodePoint);
  if (fields.length === 0) throw new Failure('bad_request', 'schema has no fields; name at least one, with its encoding.');
  if (fields.length > MAX_COLUMNS) throw new Failure('too_large', `schema has ${fields.length} fields; ${MAX_COLUMNS} are allowed.`);
  for (const field of fields) {
    if (encodingOf(schema[field]!)) continue;
    const known = Object.keys(ENCODINGS).join(', ');
    throw new Failure(
      'bad_request',
      `schema: field ${quote(field)} has the unknown encoding ${quote(schema[field])}; known are ${known}.`,
      {
        errors: [{ type: 'value_error', loc: ['body', 'schema', field], msg: `must be one of ${known}` }],
      },
    );
  }
  return fields;
}

function isState(value: unknown): value is EncoderState {
  if (!isObject(value) || value.version !== 1 || !isObject(value.schema) || !isObject(value.encoders)) return false;
  const { schema, feature_order: fields, encoders } = value;
  return (
    Array.isArray(fields) &&
    fields.length > 0 &&
    fields.length <= MAX_COLUMNS &&
    new Set(fields).size === Object.keys(schema).length &&
    fields.length === Object.keys(schema).length &&
    fields.every((field) => {
      if (typeof field !== 'string' || !Object.hasOwn(schema, field) || !Object.hasOwn(encoders, field)) return false;
      const { type, ...learned } = isObject(encoders[field]) ? encoders[field] : {};
      return type === schema[field] && typeof type === 'string' && encodingOf(type)?.isState(learned) === true;
    })
  );
}
