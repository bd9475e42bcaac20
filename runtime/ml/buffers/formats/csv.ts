import { cellTexts } from './cell.js';
import type { Format } from './contract.js';
import { rowsAsBytes } from './rows.js';

/** Quoted where a comma, a quote or a line end is in it, and where an empty text would look like a null. */
const field = (text: string): string => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** RFC 4180 with a header; a null is empty, an empty text is `""`. */
export const csv: Format = (_buffer, { rows, columns }, signal) => {
  const cells = columns.map((column) => cellTexts(column, { nothing: '', text: field }));
  const before = columns.length === 0 ? '' : `${columns.map(({ name }) => field(name)).join(',')}\r\n`;
  const write = (row: number): string => {
    let text = '';
    for (const [index, cell] of cells.entries()) text += index === 0 ? cell(row) : `,${cell(row)}`;
    return `${text}\r\n`;
  };
  return rowsAsBytes(rows, columns.length, signal, { before, write, after: '' });
};
