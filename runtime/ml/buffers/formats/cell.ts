import type { ColumnValues } from '../../../../native/contract.js';

/** The value of a cell as text. */
export type CellText = (row: number) => string;

/** How the cells of a column are written: a null, a text, and the rest, which are numbers and truth values. */
export interface CellForm {
  readonly nothing: string;
  text(value: string): string;
}

/** What writes the cells of a column. */
export function cellTexts({ kind, valid, numbers, offsets, bytes }: ColumnValues, form: CellForm): CellText {
  if (kind === 'null') return () => form.nothing;
  const isNull = valid === undefined ? () => false : (row: number) => ((valid[row >> 3]! >> (row & 7)) & 1) === 0;
  if (kind === 'string') {
    const all = Buffer.from(bytes!.buffer, bytes!.byteOffset, bytes!.byteLength);
    return (row) => (isNull(row) ? form.nothing : form.text(all.toString('utf8', offsets![row], offsets![row + 1])));
  }
  if (kind === 'bool') return (row) => (isNull(row) ? form.nothing : numbers![row] === 0 ? 'false' : 'true');
  return (row) => (isNull(row) ? form.nothing : String(numbers![row]));
}
