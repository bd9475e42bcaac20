import type { Line } from '../../text/lines.js';
import { NO_TABLE, ROW_UNITS, type TableForm } from './contract.js';

const RULE = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

/** The cells between the bars of a row; `\|` is a bar inside a cell. */
export function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const isRule = (row: string): boolean => row.includes('-') && row.includes('|') && RULE.test(row);
const rowAt = (lines: readonly Line[], at: number): string => {
  const line = lines[at]?.text ?? '';
  return line.length > ROW_UNITS ? '' : line.trim();
};

/** `| a | b |` rows: behind a header and a rule of dashes, or without a rule where every row is closed on both sides. */
export const pipe: TableForm = {
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
