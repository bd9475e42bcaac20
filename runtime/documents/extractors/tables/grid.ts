import { NO_TABLE, ROW_UNITS, type TableForm } from './contract.js';
import { cellsOf } from './pipe.js';

const BORDER = /^\+(?:[-=]+\+)+$/;

/** Cells that go over several lines become one, line by line. */
function merged(lines: readonly string[][]): string[] {
  const columns = lines.reduce((most, cells) => Math.max(most, cells.length), 0);
  return Array.from({ length: columns }, (_, column) =>
    lines
      .map((cells) => cells[column] ?? '')
      .filter((cell) => cell !== '')
      .join(' '),
  );
}

/** Tables drawn with `+---+` borders. Without merging, every line is a row. */
export const grid: TableForm = {
  type: 'grid',
  read(lines, at, mergeCells) {
    const rowAt = (index: number): string => ((lines[index]?.text.length ?? ROW_UNITS + 1) > ROW_UNITS ? '' : lines[index]!.text.trim());
    if (!BORDER.test(rowAt(at))) return NO_TABLE;
    const rows: string[][] = [];
    let open: string[][] = [];
    let end = at + 1;
    for (; end < lines.length; end += 1) {
      const row = rowAt(end);
      if (row.startsWith('|')) open.push(cellsOf(row));
      else if (!BORDER.test(row)) break;
      else if (open.length > 0) {
        rows.push(...(mergeCells ? [merged(open)] : open.slice(0, ROW_UNITS)));
        open = [];
      }
    }
    return { lines: end - at, rows };
  },
};
