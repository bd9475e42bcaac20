import type { Line } from '../../text/lines.js';
import { NO_TABLE, ROW_UNITS, type TableForm } from './contract.js';

const DELIMITERS = [',', ';', '\t'] as const;
const CELL_UNITS = 100;
/** Two columns are also what a comma in two sentences looks like. */
const ROWS_OF_TWO_COLUMNS = 3;
const LEAST_ROWS = 2;

/** The cells of one row, with quoted cells as RFC 4180 writes them; undefined where a quote stays open. */
function split(row: string, delimiter: string): string[] | undefined {
  const cells: string[] = [];
  let at = 0;
  while (at <= row.length) {
    if (row[at] === '"') {
      const quoted = /"((?:[^"]|"")*)"/y;
      quoted.lastIndex = at;
      const match = quoted.exec(row);
      if (!match || (quoted.lastIndex < row.length && row[quoted.lastIndex] !== delimiter)) return undefined;
      cells.push(match[1]!.replaceAll('""', '"'));
      at = quoted.lastIndex + 1;
    } else {
      const next = row.indexOf(delimiter, at);
      cells.push(row.slice(at, next < 0 ? row.length : next).trim());
      if (next < 0) break;
      at = next + 1;
    }
  }
  return cells;
}

function rowOf(line: Line | undefined, delimiter: string): string[] | undefined {
  const text = line?.text.trimEnd() ?? '';
  if (text.length > ROW_UNITS || !text.includes(delimiter) || /[.!?:]$/.test(text)) return undefined;
  const cells = split(text, delimiter);
  return cells?.every((cell) => cell.length <= CELL_UNITS && !/[.!?]\s/.test(cell)) ? cells : undefined;
}

/** Lines with equally many cells between commas, semicolons or tabs, that do not read like sentences. */
export const csv: TableForm = {
  type: 'csv',
  read(lines, at) {
    for (const delimiter of DELIMITERS) {
      const rows: string[][] = [];
      for (let cells = rowOf(lines[at], delimiter); cells; cells = rowOf(lines[at + rows.length], delimiter)) {
        if (rows.length > 0 && cells.length !== rows[0]!.length) break;
        rows.push(cells);
      }
      const columns = rows[0]?.length ?? 0;
      if (columns >= 2 && rows.length >= (columns === 2 ? ROWS_OF_TWO_COLUMNS : LEAST_ROWS)) return { lines: rows.length, rows };
    }
    return NO_TABLE;
  },
};
