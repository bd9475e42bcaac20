import type { OptionShapes } from '../../config/plugin-options.js';
import { defineExtractor } from './define.js';
import { tablesIn } from './tables/find.js';
import { columnNames, written } from './tables/write.js';

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
