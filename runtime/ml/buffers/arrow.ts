import type { Data, DataType } from 'apache-arrow';
import type { ColumnFrame, ColumnValues } from '../../../native/contract.js';
import { breathe } from '../../base/loop.js';
import type { Format } from './contract.js';

type Arrow = typeof import('apache-arrow');
/** Rows of one record batch are so many that it has about this many cells. */
const CELLS_PER_BATCH = 65_536;

function bits(numbers: Float64Array): Uint8Array {
  const out = new Uint8Array(Math.ceil(numbers.length / 8));
  for (const [row, value] of numbers.entries()) if (value !== 0) out[row >> 3]! |= 1 << (row & 7);
  return out;
}

function typeOf({ Null, Int64, Float64, Bool, Utf8 }: Arrow, { kind }: ColumnValues): DataType {
  if (kind === 'i64') return new Int64();
  if (kind === 'f64') return new Float64();
  if (kind === 'bool') return new Bool();
  return kind === 'string' ? new Utf8() : new Null();
}

function dataOf(arrow: Arrow, column: ColumnValues, type: DataType, from: number, until: number): Data {
  const { kind, valid, numbers, offsets, bytes } = column;
  const length = until - from;
  const values = numbers?.subarray(from, until) ?? new Float64Array(0);
  // `from` is a multiple of 8.
  const nullBitmap = valid?.subarray(from >> 3, (until + 7) >> 3) ?? null;
  const nullCount = nullBitmap === null ? 0 : -1;
  const { makeData } = arrow;
  if (kind === 'null') return makeData({ type: type as InstanceType<Arrow['Null']>, length, nullCount: length });
  if (kind === 'string')
    return makeData({
      type: type as InstanceType<Arrow['Utf8']>,
      length,
      nullCount,
      nullBitmap,
      valueOffsets: offsets!.subarray(from, until + 1),
      data: bytes!,
    });
  if (kind === 'bool') return makeData({ type: type as InstanceType<Arrow['Bool']>, length, nullCount, nullBitmap, data: bits(values) });
  if (kind === 'i64')
    return makeData({
      type: type as InstanceType<Arrow['Int64']>,
      length,
      nullCount,
      nullBitmap,
      data: BigInt64Array.from(values, BigInt),
    });
  return makeData({ type: type as InstanceType<Arrow['Float64']>, length, nullCount, nullBitmap, data: values });
}

/** The Arrow IPC streaming format, one record batch or several. */
export const arrow: Format = async (_buffer, { rows, columns }: ColumnFrame, signal) => {
  const library = await import('apache-arrow');
  const { Field, RecordBatch, RecordBatchStreamWriter, Schema, Struct } = library;
  const types = columns.map((column) => typeOf(library, column));
  const fields = columns.map(({ name }, index) => new Field(name, types[index]!, true));
  const schema = new Schema(fields);
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  const step = Math.max(8, Math.floor(CELLS_PER_BATCH / Math.max(1, columns.length)) & ~7);
  for (let from = 0; from < rows; from += step) {
    const until = Math.min(rows, from + step);
    const children = columns.map((column, index) => dataOf(library, column, types[index]!, from, until));
    const data = library.makeData({ type: new Struct(fields), length: until - from, nullCount: 0, children });
    writer.write(new RecordBatch(schema, data));
    await breathe();
    signal.throwIfAborted();
  }
  return writer.finish().toUint8Array(true);
};
