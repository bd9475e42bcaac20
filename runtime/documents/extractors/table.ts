import type { OptionShapes } from '../../config/plugin-options.js';
import { type Line, linesOf } from '../text/sentences.js';
import { defineExtractor } from './contract.js';

const OPTIONS = {
  output_format: { type: 'string', default: 'dict', enum: ['dict', 'list', 'csv', 'markdown'], description: 'How rows are given.' },
  extract_headers: { type: 'boolean', default: true, description: 'The first row names the columns; off = it is a row like any other.' },
  merge_cells: {
    type: 'boolean',
    default: true,
    description: 'The lines of a cell of a grid table are one cell; off = each line is a row.',
  },
  min_rows: { type: 'integer', default: 2, minimum: 1, maximum: 1000, description: 'Least rows of a table, the header among them.' },
} as const satisfies OptionShapes;

/** Tables of a text: with bars, drawn as a grid, or as rows of CSV. `tables` beside the chunk holds the rows of each. */
export const table = defineExtractor('TableExtractor', OPTIONS, (text, options) => {
  const tables = tablesIn(text, options.min_rows, options.merge_cells).map(({ type, rows, start_line, end_line }) => {
    const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
    const headers = options.extract_headers ? columnNames(rows[0] ?? [], columns) : [];
    const body = options.extract_headers ? rows.slice(1) : rows;
    return {
      rows: body.length,
      columns,
      table: { type, headers, data: writeAs(options.output_format, headers, body, columns), start_line, end_line },
    };
  });
  const total = (of: 'rows' | 'columns'): number => tables.reduce((sum, one) => sum + one[of], 0);
  const count = (type: string): number => tables.filter((one) => one.table.type === type).length;
  return {
    output: {
      tables: {
        tables: tables.map((one) => one.table),
        table_count: tables.length,
        total_rows: total('rows'),
        total_columns: total('columns'),
        statistics: {
          pipe_tables: count('pipe'),
          grid_tables: count('grid'),
          csv_tables: count('csv'),
          avg_rows: tables.length === 0 ? 0 : total('rows') / tables.length,
          avg_columns: tables.length === 0 ? 0 : total('columns') / tables.length,
        },
      },
    },
    flat: { tables: tables.map((one) => one.table.data), table_count: tables.length },
  };
});

/** A table as the text shows it. Lines count from 1, both ends included. */
interface FoundTable {
  readonly type: 'pipe' | 'grid' | 'csv';
  /** The header first where there is one. */
  readonly rows: readonly (readonly string[])[];
  readonly start_line: number;
  readonly end_line: number;
}

/** Tables of one text, columns of a table, and code units of all cells; the rest is left out. */
const LIMITS = { tables: 50, columns: 100, units: 100_000 } as const;
/** Longest cell; longer ones are cut. */
const LONGEST_CELL = 200;
/** What a cell costs at least, since it stands beside the name of its column. */
const LEAST_COST = 20;

/** The tables of a text with at least so many rows, the header among them. */
function tablesIn(text: string, minRows: number, mergeCells: boolean): FoundTable[] {
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

/** How the rows of a table are given. */
type TableFormat = 'dict' | 'list' | 'csv' | 'markdown';

/** Longest name of a column: rows repeat it. */
const NAME_UNITS = 64;

/** Rows as objects by column, as lists, or as one text with the header where there is one. */
function writeAs(format: TableFormat, headers: readonly string[], rows: readonly (readonly string[])[], columns: number): unknown {
  const padded = rows.map((row) => Array.from({ length: columns }, (_, index) => row[index] ?? ''));
  const names = columnNames(headers, columns);
  switch (format) {
    case 'dict':
      return padded.map((row) => Object.fromEntries(row.map((cell, index) => [names[index]!, cell])));
    case 'list':
      return padded;
    case 'csv':
      return [...(headers.length > 0 ? [names] : []), ...padded].map((row) => row.map(quoted).join(',')).join('\n');
    case 'markdown':
      return [names, names.map(() => '---'), ...padded].map(barred).join('\n');
  }
}

/** Names of columns: unique, and never empty. */
function columnNames(headers: readonly string[], columns: number): string[] {
  const used = new Set<string>();
  return Array.from({ length: columns }, (_, index) => {
    const base = headers[index]?.slice(0, NAME_UNITS) || `column_${index + 1}`;
    let name = base;
    for (let copy = 2; used.has(name); copy += 1) name = `${base}_${copy}`;
    used.add(name);
    return name;
  });
}

const quoted = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const barred = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** What a form of table makes of the lines from one on; `lines` is how many it takes, 0 where no table starts here. */
interface Reading {
  readonly lines: number;
  readonly rows: string[][];
}

/** One form of table. Reading must cost no more than the lines it takes and a few more. */
interface TableForm {
  readonly type: FoundTable['type'];
  read(lines: readonly Line[], at: number, mergeCells: boolean): Reading;
}

/** Nothing of this form starts here. */
const NO_TABLE: Reading = { lines: 0, rows: [] };
/** A longer line is no row of a table. */
const ROW_UNITS = 10_000;

const BORDER = /^\+(?:[-=]+\+)+$/;

/** Tables drawn with `+---+` borders. Without merging, every line is a row. */
const grid: TableForm = {
  type: 'grid',
  read(lines, at, mergeCells) {
    if (!BORDER.test(rowAt(lines, at))) return NO_TABLE;
    const rows: string[][] = [];
    let open: string[][] = [];
    let end = at + 1;
    for (; end < lines.length; end += 1) {
      const row = rowAt(lines, end);
      if (row.startsWith('|')) open.push(cellsOf(row));
      else if (!BORDER.test(row)) break;
      else if (open.length > 0) {
        rows.push(...(mergeCells ? [mergeLines(open)] : open.slice(0, ROW_UNITS)));
        open = [];
      }
    }
    return { lines: end - at, rows };
  },
};

/** Cells that go over several lines become one, line by line. */
function mergeLines(lines: readonly string[][]): string[] {
  const columns = lines.reduce((most, cells) => Math.max(most, cells.length), 0);
  return Array.from({ length: columns }, (_, column) =>
    lines
      .map((cells) => cells[column] ?? '')
      .filter((cell) => cell !== '')
      .join(' '),
  );
}

const RULE = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

/** `| a | b |` rows: behind a header and a rule of dashes, or without a rule where every row is closed on both sides. */
const pipe: TableForm = {
  type: 'pipe',
  read(lines, at) {
    const head = rowAt(lines, at);
    if (!head.includes('|') || isRule(head)) return NO_TABLE;
    const ruled = isRule(rowAt(lines, at + 1));
    const closed = (row: string): boolean => row.length > 1 && row.startsWith('|') && row.endsWith('|');
    if (!ruled && !closed(head)) return NO_TABLE;
    const rows = [cellsOf(head)];
    let end = at + (ruled ? 2 : 1);
    while (end < lines.length) {
      const row = rowAt(lines, end);
      if (ruled ? !row.includes('|') : !closed(row)) break;
      if (!isRule(row)) rows.push(cellsOf(row));
      end += 1;
    }
    return { lines: end - at, rows };
  },
};

const isRule = (row: string): boolean => row.includes('-') && row.includes('|') && RULE.test(row);

/** The cells between the bars of a row; `\|` is a bar inside a cell. */
function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** The text of a line as a row; empty where there is none, or it is too long. */
const rowAt = (lines: readonly Line[], at: number): string => {
  const line = lines[at]?.text ?? '';
  return line.length > ROW_UNITS ? '' : line.trim();
};

const DELIMITERS = [',', ';', '\t'] as const;
const CELL_UNITS = 100;
/** Two columns are also what a comma in two sentences looks like. */
const ROWS_OF_TWO_COLUMNS = 3;
const LEAST_ROWS = 2;

/** Lines with equally many cells between commas, semicolons or tabs, that do not read like sentences. */
const csv: TableForm = {
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

function rowOf(line: Line | undefined, delimiter: string): string[] | undefined {
  const text = line?.text.trimEnd() ?? '';
  if (text.length > ROW_UNITS || !text.includes(delimiter) || /[.!?:]$/.test(text)) return undefined;
  const cells = split(text, delimiter);
  return cells?.every((cell) => cell.length <= CELL_UNITS && !/[.!?]\s/.test(cell)) ? cells : undefined;
}

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

/** Every form of table, the surest first. */
const FORMS = [grid, pipe, csv] as const satisfies readonly TableForm[];
