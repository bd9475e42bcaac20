import type { AnomalyFitOptions, NativeAnomalyFit } from './anomaly.js';

/** What a column holds: integers within 2^53, numbers, truth values, texts, or nothing but nulls so far. `i64` turns into `f64` with the first number that is no integer. */
export type ColumnKind = 'null' | 'i64' | 'f64' | 'bool' | 'string';

/** The values of one column for some rows, laid out as in Arrow but for bools. */
export interface ColumnValues {
  name: string;
  kind: ColumnKind;
  /** Bit `i & 7` of byte `i >> 3` says whether row i has a value; all rows have one when missing. */
  valid?: Uint8Array;
  /** Of `i64`, `f64` and `bool` (0 or 1), one per row; what stands for a null means nothing. */
  numbers?: Float64Array;
  /** Of `string`: row i is UTF-8 from `offsets[i]` to `offsets[i + 1]` of `bytes`. */
  offsets?: Int32Array;
  bytes?: Uint8Array;
}

/** Statistics of a window, in the order in which they come. */
export type RollingStatistic = 'mean' | 'std' | 'min' | 'max' | 'sum' | 'median' | 'zscore' | 'deviation' | 'minmax_scaled';

/**
 * What is made of each numeric column, in this order: each statistic of each window (`x_rolling_mean_5`, `x_zscore_5`), lags (`x_lag_1`), rates of
 * change (`x_roc_1`), exponentially weighted means (`x_ewm_mean_10`). Lists hold at most 64 numbers from 1 to 100,000. A window takes the
 * rows that there are and skips nulls; what cannot be computed is 0.
 */
export interface ColumnFeatures {
  windows?: readonly number[];
  /** The first four when missing. */
  statistics?: readonly RollingStatistic[];
  lags?: readonly number[];
  rates?: readonly number[];
  spans?: readonly number[];
}

/** Which rows are read. */
export interface ColumnsRead {
  /** The last so many. */
  tail?: number;
  /** By number, counted from the first row that was ever appended; `until` is not included. Rows that are gone are left out. */
  from?: number;
  until?: number;
  features?: ColumnFeatures;
}

/** Rows by column: the columns in the order in which they came, then the features of each numeric one. */
export interface ColumnFrame {
  /** Number of the first row. */
  first: number;
  rows: number;
  columns: ColumnValues[];
}

/** A frame as it comes out of C++, where an object and an array per column would take longer than their values. */
export interface PackedFrame {
  first: number;
  rows: number;
  names: string[];
  /** Of each column: its place among null, i64, f64, bool and string. */
  kinds: Uint8Array;
  /** Of all columns with numbers, one after the other; missing where they are many. */
  numbers?: Float64Array;
  /** By place of the column: what else it has. */
  rest: Record<number, Partial<ColumnValues>>;
}

/** A moment of a table. */
export interface ColumnsStats {
  /** Number of the oldest row that is kept. */
  first: number;
  /** Number of rows appended so far. */
  next: number;
  /** Memory of the values. */
  bytes: number;
  /** Memory, at most, of what reads of features go on from: 16 MiB, of the four specifications that were read last. */
  liveBytes: number;
  columns: { name: string; kind: ColumnKind }[];
}

/** The newest `capacity` rows of named columns. Arrays are copied in the call. What a promise answers is of the moment of the call, whatever is appended meanwhile. */
export interface NativeColumns {
  /**
   * Sync, about 0.1 ms at most. Adds rows and forgets the oldest above the capacity; columns that are not named get nulls. Adds nothing and throws
   * Failure('invalid') for kinds that do not mix and numbers beyond 1e150, ('too_large') for over 2^14 cells or 1000 columns.
   */
  append(rows: number, columns: readonly ColumnValues[]): void;
  /** Sync. Forgets rows and columns. */
  clear(): void;
  /**
   * On the thread pool from 4096 cells on. Features of the last rows, 1024 at most, go on from the last read of the same ones: a row that came since
   * costs the same whatever the windows and the rows before it. Rejects with Failure('too_large') for an answer of more than 2^24 cells.
   * `readColumns` of native/columns.ts makes a ColumnFrame of the answer.
   */
  read(options?: ColumnsRead): Promise<PackedFrame>;
  /**
   * Sync. A fit to all rows that the table has now, which its thread makes: numbers of `columns` (nulls and absent columns 0), then the
   * features of each. Takes no others by `add`. Throws as `openAnomalyFit`, and Failure('invalid') for columns and features as `read`, or
   * when `options.columns` is not what they come to.
   */
  openFit(options: AnomalyFitOptions, columns: readonly string[], features: ColumnFeatures): NativeAnomalyFit;
  /** Sync. The last row as `openFit` makes it, of a table with `live` features. */
  latest(columns: readonly string[]): Float64Array;
  /** Sync. */
  stats(): ColumnsStats;
  /** Sync. Lets go of what reads of features go on from. */
  forgetFeatures(): void;
}

/** Settings of a table. */
export interface ColumnsOptions {
  /** Rows, 1 to 1,000,000. */
  capacity: number;
  /** Features that follow every append, for `latest`. */
  live?: ColumnFeatures;
}
