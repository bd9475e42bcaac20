/** How raw scores become scores: a sigmoid about the fitted median in units of the fitted interquartile range (0 to 1), standard deviations from the fitted mean, or as they are. */
export type AnomalyNormalization = 'standardization' | 'zscore' | 'raw';

/** Settings of a fit; numbers are checked again in native code. */
export interface AnomalyFitOptions {
  /** One of `anomalyBackends()`. */
  backend: string;
  columns: number;
  /** Expected share of anomalies, above 0, at most 0.5. */
  contamination: number;
  normalization: AnomalyNormalization;
  /** False: rows are not scaled before the detector sees them (streams). */
  scaled: boolean;
  epochs?: number;
  batchSize?: number;
  /** 42 when missing. */
  seed?: number;
  /** Threads of this fit and of the model's scoring, 1 when missing. */
  threads?: number;
  /** Whether the fit, not what the model scores later, may only use what nothing else in its control group wants of the cores, for as long as that takes; false when missing. */
  background?: boolean;
  /** Whether the rows are scored too, on the same thread; false when missing. */
  scored?: boolean;
  /** Whether the answer has the state too, taken on the same thread; false when missing. */
  saved?: boolean;
}

/** A model as plain data: every entry a number, a text or an array; `version` and `backend` tell how to read the others. What `restoreAnomaly` takes. */
export type AnomalyState = Record<string, number | string | Float64Array | Int32Array>;

/** The scores of rows, in their order. */
export interface AnomalyScores {
  /** Of the detector; higher is more anomalous. */
  raw: Float64Array;
  /** Normalised. */
  scores: Float64Array;
}

/** The score of one row. */
export interface AnomalyRowScore {
  raw: number;
  score: number;
}

/** Scaler, detector and normaliser, fitted. Freed with the object. Any number of calls may run beside each other. */
export interface NativeAnomalyModel {
  readonly backend: string;
  readonly columns: number;
  readonly normalization: AnomalyNormalization;
  /** The score above which a row counts as an anomaly: the fitted rows' (1 - contamination) percentile. */
  readonly threshold: number;
  /**
   * `rows` has `columns` numbers a row and is copied in the call; at most 2^19 numbers, else Failure('too_large'): use several calls.
   * Rejects with Failure('invalid') naming row and column (from 0) of a NaN, infinity or magnitude beyond 1e100.
   */
  score(rows: Float64Array): Promise<AnomalyScores>;
  /** Sync, for streams: one row. Throws Failure('too_large') for a model whose row takes longer than a loop may wait (about 0.2 ms). */
  scoreRow(row: Float64Array): AnomalyRowScore;
  /** What each column adds to the raw score, `columns` numbers a row; limits as of `score`. */
  explain(rows: Float64Array): Promise<Float64Array>;
  /** Arrays of the caller's own. */
  state(): Promise<AnomalyState>;
  /** Sync. Lets go of the model now instead of when it is collected; calls that run go on, later ones fail with Failure('invalid'). */
  release(): void;
}

/** What a fit comes to. */
export interface AnomalyFitted {
  readonly model: NativeAnomalyModel;
  /** Raw scores of the fitted rows, as the model scores rows that it never saw; empty unless `scored` was wanted. */
  readonly raw: Float64Array;
  /** There when `saved` was wanted: as the model's `state`. */
  readonly state?: AnomalyState;
}

/** Rows that are handed over in pieces, because copying all at once would hold up the event loop, or made from a table (`NativeColumns.openFit`), and a fit on a thread of its own. */
export interface NativeAnomalyFit {
  /**
   * Sync. Appends whole rows, copied in the call: at most 2^19 numbers a call and 2^28 (2 GiB) together, else Failure('too_large').
   * Throws Failure('invalid') as `score` does, with the row counted over all pieces.
   */
  add(rows: Float64Array): void;
  /**
   * Once, after the last `add`. Rejects with Failure('bad_request') for rows that cannot be learned, such as fewer than 2, ('unavailable') after
   * `cancel`; rows of a table with ('invalid') as `add`, and with ('too_large') for more than 2^24 numbers.
   */
  run(): Promise<AnomalyFitted>;
  /** The thread ends within about 10 ms of its computing; without effect when it has ended. */
  cancel(): void;
}

/** A state that is handed over in pieces. `restoreAnomaly` of native/anomaly.ts does it for a whole one. */
export interface NativeAnomalyRestore {
  /** Sync. An array of a name that is there is appended to it; at most 2^19 items a call, else Failure('too_large'). */
  add(name: string, value: number | string | Float64Array | Int32Array): void;
  /** Once. Rejects with Failure('invalid') naming the entry that no model has; no number is trusted. */
  run(): Promise<NativeAnomalyModel>;
}
