import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import { quote } from '../../base/names.js';

/** Most rows of one request. */
const MAX_ROWS = 1_000_000;
/** Most numbers of one request after encoding: 64 MiB in memory. */
const MAX_NUMBERS = 2 ** 23;
/** Most columns of a row after encoding. */
export const MAX_COLUMNS = 4096;
/** Numbers beyond this overflow when they are squared and summed. */
const MAX_MAGNITUDE = 1e100;

/** Numbers of one block: 512 KiB, copied by native code in less time than a turn of the loop may take. */
const BLOCK_NUMBERS = 2 ** 16;
/** Numbers converted between two looks at the clock. */
const NUMBERS_PER_LOOK = 512;

/** Rows of numbers that are made block by block, so that the event loop is not held and nothing is in memory twice. */
export interface Rows {
  readonly count: number;
  readonly columns: number;
  /** Whole rows, one after the other; a block is overwritten by the next. Throws `bad_request` naming row, column and value. */
  blocks(): AsyncGenerator<Float64Array>;
}

/** Throws `too_large` with the figures for more than a request may have. */
export function checkSize(count: number, columns: number): void {
  if (count > MAX_ROWS)
    throw new Failure('too_large', `data has ${count} rows; a request can have ${MAX_ROWS}. Send a sample, or several requests.`);
  if (columns > MAX_COLUMNS) throw new Failure('too_large', `A row has ${columns} columns; ${MAX_COLUMNS} are allowed.`);
  if (count * columns > MAX_NUMBERS) {
    throw new Failure(
      'too_large',
      `data has ${count} rows of ${columns} columns, ${count * columns} numbers (${mib(count * columns)} MiB); a request can have ${MAX_NUMBERS} (${mib(MAX_NUMBERS)} MiB). Send a sample, or several requests.`,
    );
  }
}

const mib = (numbers: number): number => Math.ceil((numbers * Float64Array.BYTES_PER_ELEMENT) / 2 ** 20);

/** Makes blocks of `count` rows with what writes one of them. */
export function rowsOf(count: number, columns: number, write: (row: number, out: Float64Array, at: number) => void): Rows {
  checkSize(count, columns);
  const rowsPerBlock = Math.min(count, Math.max(1, Math.floor(BLOCK_NUMBERS / columns)));
  const rowsPerLook = Math.max(1, Math.floor(NUMBERS_PER_LOOK / columns));
  return {
    count,
    columns,
    blocks: async function* blocks() {
      const block = new Float64Array(rowsPerBlock * columns);
      for (let from = 0; from < count; from += rowsPerBlock) {
        const end = Math.min(count, from + rowsPerBlock);
        for (let row = from; row < end; row += 1) {
          write(row, block, (row - from) * columns);
          if (row % rowsPerLook === 0) await breathe();
        }
        yield block.subarray(0, (end - from) * columns);
      }
    },
  };
}

/** The rows of arrays of numbers. Throws `bad_request` for a first row that is none; later ones are looked at when their block is made. */
export function numberRows(data: readonly unknown[]): Rows {
  const columns = rowAt(data, 0).length;
  if (columns === 0) throw wrong(['data', 0], 'row 0 is empty; give at least one number');
  return rowsOf(data.length, columns, (row, out, at) => {
    const values = rowAt(data, row);
    if (values.length !== columns) {
      throw wrong(['data', row], `row ${row} has ${values.length} ${values.length === 1 ? 'column' : 'columns'}, row 0 has ${columns}`);
    }
    for (let column = 0; column < columns; column += 1) {
      const value = values[column];
      if (typeof value !== 'number' || !(Math.abs(value) <= MAX_MAGNITUDE))
        throw notFinite(['data', row, column], `row ${row}, column ${column}`, value);
      out[at + column] = value;
    }
  });
}

function rowAt(data: readonly unknown[], row: number): readonly unknown[] {
  const values = data[row];
  if (Array.isArray(values)) return values;
  throw wrong(['data', row], `row ${row} is ${quote(values)}; it must be an array of numbers, as the others are`);
}

/** `place` has no number that can be computed with. */
export function notFinite(loc: readonly (string | number)[], place: string, value: unknown): Failure {
  const wanted = typeof value === 'number' ? `a number of at most ${MAX_MAGNITUDE} in magnitude` : 'a number';
  return wrong(loc, `${place} is ${quote(value)}; it must be ${wanted}`, value);
}

/** `bad_request` about the value at a path of the body. */
export function wrong(loc: readonly (string | number)[], message: string, input?: unknown): Failure {
  const shown = typeof input === 'number' ? { input } : {};
  return new Failure('bad_request', `data: ${message}.`, {
    errors: [{ type: 'value_error', loc: ['body', ...loc], msg: message, ...shown }],
  });
}
