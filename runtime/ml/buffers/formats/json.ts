import { cellTexts } from './cell.js';
import type { Format } from './contract.js';
import { rowsAsBytes } from './rows.js';

/** `{object, buffer_id, rows, columns, data}` with one object per row. */
export const json: Format = (buffer, { rows, columns }, signal) => {
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
