import type { ColumnValues } from '../../../native/contract.js';
import { breathe } from '../../base/loop.js';
import { arrow } from './arrow.js';
import type { ExportType, Format } from './contract.js';

/** The value of a cell as text. */
type CellText = (row: number) => string;

/** How the cells of a column are written: a null, a text, and the rest, which are numbers and truth values. */
interface CellForm {
  readonly nothing: string;
  text(value: string): string;
}

/** What writes the cells of a column. */
function cellTexts({ kind, valid, numbers, offsets, bytes }: ColumnValues, form: CellForm): CellText {
  if (kind === 'null') return () => form.nothing;
  const isNull = valid === undefined ? () => false : (row: number) => ((valid[row >> 3]! >> (row & 7)) & 1) === 0;
  if (kind === 'string') {
    const all = Buffer.from(bytes!.buffer, bytes!.byteOffset, bytes!.byteLength);
    return (row) => (isNull(row) ? form.nothing : form.text(all.toString('utf8', offsets![row], offsets![row + 1])));
  }
  if (kind === 'bool') return (row) => (isNull(row) ? form.nothing : numbers![row] === 0 ? 'false' : 'true');
  return (row) => (isNull(row) ? form.nothing : String(numbers![row]));
}

/** Cells that are written before others get their turn. */
const CELLS_AT_ONCE = 2_000;

/** The bytes of `before`, of every row by `write`, and of `after`. */
async function rowsAsBytes(
  rows: number,
  width: number,
  signal: AbortSignal,
  parts: { before: string; write: (row: number) => string; after: string },
): Promise<Uint8Array> {
  const at = Math.max(1, Math.floor(CELLS_AT_ONCE / Math.max(1, width)));
  const chunks: Buffer[] = [];
  let text = parts.before;
  for (let row = 0; row < rows; row += 1) {
    text += parts.write(row);
    if (row % at !== at - 1) continue;
    chunks.push(Buffer.from(text));
    text = '';
    await breathe();
    signal.throwIfAborted();
  }
  chunks.push(Buffer.from(text + parts.after));
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/** `{object, buffer_id, rows, columns, data}` with one object per row. */
const json: Format = (buffer, { rows, columns }, signal) => {
  const names = rows === 0 ? [] : columns.map(({ name }) => name);
  const head = { object: 'polars_data', buffer_id: buffer, rows, columns: names };
  const cells = columns.map((column, index) => ({
    before: `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`,
    text: cellTexts(column, { nothing: 'null', text: JSON.stringify }),
  }));
  const write = (row: number): string => {
    let text = row === 0 ? '' : ',';
    for (const cell of cells) text += cell.before + cell.text(row);
    return cells.length === 0 ? `${text}{}` : `${text}}`;
  };
  return rowsAsBytes(rows, columns.length, signal, { before: `${JSON.stringify(head).slice(0, -1)},"data":[`, write, after: ']}' });
};

/** Quoted where a comma, a quote or a line end is in it, and where an empty text would look like a null. */
const field = (text: string): string => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** RFC 4180 with a header; a null is empty, an empty text is `""`. */
const csv: Format = (_buffer, { rows, columns }, signal) => {
  const cells = columns.map((column) => cellTexts(column, { nothing: '', text: field }));
  const before = columns.length === 0 ? '' : `${columns.map(({ name }) => field(name)).join(',')}\r\n`;
  const write = (row: number): string => {
    let text = '';
    for (const [index, cell] of cells.entries()) text += index === 0 ? cell(row) : `,${cell(row)}`;
    return `${text}\r\n`;
  };
  return rowsAsBytes(rows, columns.length, signal, { before, write, after: '' });
};

/** Every form in which rows go out, by its media type. */
export const FORMATS = {
  'application/json': json,
  'text/csv': csv,
  'application/vnd.apache.arrow.stream': arrow,
} satisfies Record<ExportType, Format>;
