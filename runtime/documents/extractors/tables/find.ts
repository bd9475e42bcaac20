import { linesOf } from '../../text/lines.js';
import type { FoundTable, TableForm } from './contract.js';
import { csv } from './csv.js';
import { grid } from './grid.js';
import { pipe } from './pipe.js';

/** Tables of one text, columns of a table, and code units of all cells; the rest is left out. */
const LIMITS = { tables: 50, columns: 100, units: 100_000 } as const;
/** Longest cell; longer ones are cut. */
const LONGEST_CELL = 200;
/** What a cell costs at least, since it stands beside the name of its column. */
const LEAST_COST = 20;

/** Every form of table, the surest first. */
const FORMS = [grid, pipe, csv] as const satisfies readonly TableForm[];

/** The tables of a text with at least so many rows, the header among them. */
export function tablesIn(text: string, minRows: number, mergeCells: boolean): FoundTable[] {
  const lines = linesOf(text);
  const found: FoundTable[] = [];
  let room: number = LIMITS.units;
  for (let at = 0; at < lines.length && found.length < LIMITS.tables && room > 0; ) {
    const [form, reading] = FORMS.map((one) => [one, one.read(lines, at, mergeCells)] as const).find((one) => one[1].lines > 0) ?? [];
    if (!form || !reading) {
      at += 1;
      continue;
    }
    const rows: string[][] = [];
    for (const row of reading.rows) {
      if (room <= 0) break;
      rows.push(row.slice(0, LIMITS.columns).map((cell) => cell.slice(0, LONGEST_CELL)));
      room -= rows.at(-1)!.reduce((sum, cell) => sum + Math.max(cell.length, LEAST_COST), 0);
    }
    if (rows.length >= minRows) {
      found.push({ type: form.type, rows, start_line: lines[at]!.number, end_line: lines[at + reading.lines - 1]!.number });
    }
    at += reading.lines;
  }
  return found;
}
