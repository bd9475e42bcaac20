import type { NativeColumns } from '../../../native/contract.js';
import { breathe } from '../../base/loop.js';
import { type Cells, sliceOf } from './cells.js';
import { CELLS_PER_PIECE } from './limits.js';

/** Appends to a native table, in pieces when it is much; no promise is made when it is little. `onRows` hears at once of rows that are in it. */
export function appendTo(table: NativeColumns, cells: Cells, onRows?: (rows: number) => void): Promise<void> | undefined {
  if (cells.rows * cells.columns.length <= CELLS_PER_PIECE) {
    table.append(cells.rows, cells.columns);
    onRows?.(cells.rows);
    return undefined;
  }
  return appendInPieces(table, cells, onRows);
}

async function appendInPieces(table: NativeColumns, { rows, columns }: Cells, onRows?: (rows: number) => void): Promise<void> {
  // Validity bits are cut at whole bytes.
  const piece = Math.max(8, (CELLS_PER_PIECE / columns.length) & ~7);
  for (let from = 0; from < rows; from += piece) {
    const until = Math.min(rows, from + piece);
    table.append(until - from, sliceOf(columns, from, until));
    onRows?.(until - from);
    await breathe();
  }
}
