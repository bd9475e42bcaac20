import type { Line } from '../../text/lines.js';

/** A table as the text shows it. Lines count from 1, both ends included. */
export interface FoundTable {
  readonly type: 'pipe' | 'grid' | 'csv';
  /** The header first where there is one. */
  readonly rows: readonly (readonly string[])[];
  readonly start_line: number;
  readonly end_line: number;
}

/** What a form of table makes of the lines from one on; `lines` is how many it takes, 0 where no table starts here. */
export interface Reading {
  readonly lines: number;
  readonly rows: string[][];
}

/** One form of table. Reading must cost no more than the lines it takes and a few more. */
export interface TableForm {
  readonly type: FoundTable['type'];
  read(lines: readonly Line[], at: number, mergeCells: boolean): Reading;
}

/** Nothing of this form starts here. */
export const NO_TABLE: Reading = { lines: 0, rows: [] };
/** A longer line is no row of a table. */
export const ROW_UNITS = 10_000;
