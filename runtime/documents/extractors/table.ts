import type { OptionShapes } from '../../config/plugin-options.js';
import { defineExtractor } from './contract.js';
import { tablesIn } from './find-tables.js';

/** How the rows of a table are given. */
type TableFormat = 'dict' | 'list' | 'csv' | 'markdown';

/** Longest name of a column: rows repeat it. */
const NAME_UNITS = 64;

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

/** Rows as objects by column, as lists, or as one text with the header where there is one. */
function written(format: TableFormat, headers: readonly string[], rows: readonly (readonly string[])[], columns: number): unknown {
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
      table: { type, headers, data: written(options.output_format, headers, body, columns), start_line, end_line },
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
