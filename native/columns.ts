import type { ColumnFrame, ColumnKind, ColumnsRead, ColumnValues, NativeColumns } from './contract.js';

/** In the order of the C++ enumeration. */
const KINDS: readonly ColumnKind[] = ['null', 'i64', 'f64', 'bool', 'string'];

/** Reads rows of a table by column. Rejects as its `read`. */
export async function readColumns(table: NativeColumns, options?: ColumnsRead): Promise<ColumnFrame> {
  const { first, rows, names, kinds, numbers, rest } = await table.read(options);
  let at = 0;
  const columns = names.map((name, index): ColumnValues => {
    const kind = KINDS[kinds[index]!]!;
    const values: ColumnValues = { name, kind, ...rest[index] };
    if (numbers && kind !== 'null' && kind !== 'string') {
      values.numbers = numbers.subarray(at, at + rows);
      at += rows;
    }
    return values;
  });
  return { first, rows, columns };
}
