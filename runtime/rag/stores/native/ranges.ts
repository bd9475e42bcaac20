import type { RowRange } from '../../../store/store.js';

/** Ranges with further rows at their end, the last one prolonged where that is possible. */
export function withRows(ranges: readonly RowRange[], first: number, count: number): RowRange[] {
  if (count === 0) return [...ranges];
  const last = ranges.at(-1);
  if (last !== undefined && last[0] + last[1] === first) return [...ranges.slice(0, -1), [last[0], last[1] + count]];
  return [...ranges, [first, count]];
}

/** Ranges without one row. */
export function withoutRow(ranges: readonly RowRange[], row: number): RowRange[] {
  return ranges.flatMap(([first, count]): RowRange[] => {
    if (row < first || row >= first + count) return [[first, count]];
    const parts: RowRange[] = [
      [first, row - first],
      [row + 1, first + count - row - 1],
    ];
    return parts.filter((part) => part[1] > 0);
  });
}

/** How many rows the ranges have. */
export function rowCount(ranges: readonly RowRange[]): number {
  return ranges.reduce((sum, [, count]) => sum + count, 0);
}
