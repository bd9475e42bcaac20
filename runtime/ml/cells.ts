import type { ColumnKind, ColumnValues, NativeColumns } from '../../native/contract.js';
import { Failure } from '../../schemas/errors.js';
import { breathe } from '../base/loop.js';
import { quote } from '../base/names.js';

/** Columns of one buffer or detector. */
const MAX_COLUMNS = 500;
/** Characters of a column's name. */
export const MAX_NAME_CHARACTERS = 256;
/** Bytes of one text in UTF-8. */
const MAX_TEXT_BYTES = 65_536;
/** Cells that one append to the native table takes; it is synchronous, and this many take about 0.1 ms. */
const CELLS_PER_PIECE = 8_192;
/** Numbers beyond this are refused: the sums of their squares overflow. */
const LARGEST_NUMBER = 1e150;

/** One sample: values by name. */
export type Row = Readonly<Record<string, unknown>>;

/** Rows by column, as native tables take them. */
export interface Cells {
  readonly rows: number;
  readonly columns: ColumnValues[];
}

/** Rows that are converted before others get their turn. */
const ROWS_AT_ONCE = 256;
const SHOWN: Readonly<Record<ColumnKind, string>> = {
  null: 'nulls',
  i64: 'integers',
  f64: 'numbers',
  bool: 'truth values',
  string: 'texts',
};

/** The failure for a value that a column cannot take. */
export function wrongValue(row: number, name: string, value: unknown, why: string): Failure {
  const msg = `row ${row}, column ${quote(name)}: ${quote(value)} ${why}`;
  return new Failure('invalid', `${msg[0]!.toUpperCase()}${msg.slice(1)}.`, {
    errors: [{ type: 'column_value', loc: ['body', 'data', row, name], msg, input: value }],
  });
}

const tooLarge = (row: number, name: string, value: number): Failure =>
  wrongValue(row, name, value, `is beyond ${LARGEST_NUMBER}, the largest number that can be kept`);

/** The infinities of a row by name, of a list by place: JSON would carry them on as null. */
export function infinitiesOf(values: unknown): [name: string, value: number][] {
  if (typeof values !== 'object' || values === null) return [];
  return Object.entries(values).filter(([, value]) => value === Infinity || value === -Infinity);
}

/** Throws `invalid` for an infinity in rows. */
export function refuseInfinite(rows: readonly unknown[]): void {
  for (const [row, values] of rows.entries()) for (const [name, value] of infinitiesOf(values)) throw tooLarge(row, name, value);
}

function kindOf(value: unknown, row: number, name: string): ColumnKind {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (typeof value !== 'number') throw wrongValue(row, name, value, 'is no number, text, truth value or null');
  if (!(Math.abs(value) <= LARGEST_NUMBER)) throw tooLarge(row, name, value);
  return Number.isSafeInteger(value) ? 'i64' : 'f64';
}

/** What holds both, `undefined` where they do not mix. */
export function joinedKind(a: ColumnKind, b: ColumnKind): ColumnKind | undefined {
  if (a === b || b === 'null') return a;
  if (a === 'null') return b;
  return (a === 'i64' && b === 'f64') || (a === 'f64' && b === 'i64') ? 'f64' : undefined;
}

class Builder {
  kind: ColumnKind;
  readonly #name: string;
  readonly #values: unknown[];
  #seen: { row: number; value: unknown } | undefined;
  #nulls: number;

  constructor(name: string, kind: ColumnKind, rows: number) {
    this.#name = name;
    this.kind = kind;
    this.#values = new Array(rows).fill(null);
    this.#nulls = rows;
  }

  add(row: number, value: unknown): void {
    const kind = kindOf(value, row, this.#name);
    if (kind === 'null') return;
    const joined = joinedKind(this.kind, kind);
    if (joined === undefined) {
      const since = this.#seen ? `since row ${this.#seen.row} (${quote(this.#seen.value)})` : 'since earlier appends';
      throw wrongValue(row, this.#name, value, `does not fit: the column holds ${SHOWN[this.kind]} ${since}`);
    }
    this.kind = joined;
    this.#seen ??= { row, value };
    this.#values[row] = value;
    this.#nulls -= 1;
  }

  /** Works in turns where there are many rows. */
  async values(): Promise<ColumnValues> {
    const kind = this.#seen === undefined ? 'null' : this.kind;
    const out: ColumnValues = { name: this.#name, kind };
    if (this.#nulls > 0) out.valid = await this.#bits();
    if (kind === 'string') Object.assign(out, await this.#texts());
    else if (kind !== 'null') out.numbers = await this.#numbers();
    return out;
  }

  async #bits(): Promise<Uint8Array> {
    const bits = new Uint8Array(Math.ceil(this.#values.length / 8));
    await this.#each((value, row) => {
      if (value !== null) bits[row >> 3]! |= 1 << (row & 7);
    });
    return bits;
  }

  async #numbers(): Promise<Float64Array> {
    const numbers = new Float64Array(this.#values.length);
    await this.#each((value, row) => {
      numbers[row] = Number(value);
    });
    return numbers;
  }

  async #texts(): Promise<{ offsets: Int32Array; bytes: Uint8Array }> {
    const offsets = new Int32Array(this.#values.length + 1);
    const parts: Buffer[] = [];
    await this.#each((value, row) => {
      const part = Buffer.from((value as string | null) ?? '');
      if (part.length > MAX_TEXT_BYTES)
        throw wrongValue(
          row,
          this.#name,
          `${part.toString('utf8', 0, 40)}...`,
          `has ${part.length} bytes; at most ${MAX_TEXT_BYTES} are kept`,
        );
      parts.push(part);
      offsets[row + 1] = offsets[row]! + part.length;
    });
    const bytes = Buffer.allocUnsafe(offsets.at(-1)!);
    await this.#each((_value, row) => void bytes.set(parts[row]!, offsets[row]!));
    return { offsets, bytes };
  }

  async #each(use: (value: unknown, row: number) => void): Promise<void> {
    for (let row = 0; row < this.#values.length; row += 1) {
      use(this.#values[row], row);
      if (row % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await breathe();
    }
  }
}

/**
 * Rows as columns; a column that a row lacks is null there. `kinds` says what the columns hold already. Throws `invalid` naming row, column and value for what is
 * no number, text, truth value or null, and for what does not mix with the column (numbers with texts), `too_large` for too many columns.
 */
export async function cellsOf(rows: readonly Row[], kinds: ReadonlyMap<string, ColumnKind>): Promise<Cells> {
  const builders = new Map<string, Builder>();
  let columns = kinds.size;
  for (const [row, values] of rows.entries()) {
    for (const name in values) {
      let builder = builders.get(name);
      if (builder === undefined) {
        if (name === '' || name.length > MAX_NAME_CHARACTERS)
          throw wrongValue(
            row,
            name.slice(0, 40),
            values[name],
            `is under a name of ${name.length} characters; 1 to ${MAX_NAME_CHARACTERS} are allowed`,
          );
        if (!kinds.has(name)) columns += 1;
        if (columns > MAX_COLUMNS)
          throw new Failure(
            'too_large',
            `Row ${row} would make column ${quote(name)} the ${columns}th; ${MAX_COLUMNS} columns are allowed.`,
          );
        builder = new Builder(name, kinds.get(name) ?? 'null', rows.length);
        builders.set(name, builder);
      }
      builder.add(row, values[name]);
    }
    if (row % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await breathe();
  }
  const out: ColumnValues[] = [];
  for (const builder of builders.values()) {
    out.push(await builder.values());
    if (rows.length > ROWS_AT_ONCE) await breathe();
  }
  return { rows: rows.length, columns: out };
}

/** Rows `from` to `until` of some columns; `from` is a multiple of 8. */
function sliceOf(columns: readonly ColumnValues[], from: number, until: number): ColumnValues[] {
  return columns.map(({ name, kind, valid, numbers, offsets, bytes }) => {
    const out: ColumnValues = { name, kind };
    if (valid) out.valid = valid.subarray(from >> 3, (until + 7) >> 3);
    if (numbers) out.numbers = numbers.subarray(from, until);
    if (offsets && bytes) {
      out.offsets = offsets.slice(from, until + 1).map((offset) => offset - offsets[from]!);
      out.bytes = bytes.subarray(offsets[from], offsets[until]);
    }
    return out;
  });
}

/** Memory that a native table takes for them, about. */
export function bytesOf({ rows, columns }: Cells): number {
  let sum = 0;
  for (const { kind, bytes } of columns) sum += rows * (kind === 'string' ? 33 : kind === 'bool' ? 2 : 9) + (bytes?.length ?? 0);
  return sum;
}

/** Appends to a native table, in pieces when it is much; no promise is made when it is little. `onRows` hears at once of rows that are in it. */
export function appendTo(table: NativeColumns, cells: Cells, onRows?: (rows: number) => void): Promise<void> | undefined {
  if (cells.rows * cells.columns.length <= CELLS_PER_PIECE) {
    table.append(cells.rows, cells.columns);
    onRows?.(cells.rows);
    return undefined;
  }
  return appendInPieces(table, cells, onRows);
}

async function appendInPieces(table: NativeColumns, { rows, columns }: Cells, onRows?: (rows: number) => void): Promise<void> {
  // Validity bits are cut at whole bytes.
  const piece = Math.max(8, (CELLS_PER_PIECE / columns.length) & ~7);
  for (let from = 0; from < rows; from += piece) {
    const until = Math.min(rows, from + piece);
    table.append(until - from, sliceOf(columns, from, until));
    onRows?.(until - from);
    await breathe();
  }
}
