/** A data buffer. */
export interface TableRecord {
  /** Its own number: its segments lie under it, and a table that starts anew gets another. */
  owner: number;
  /** The newest so many rows are kept. */
  windowSize: number;
  /** Milliseconds since 1970. */
  createdMs: number;
}

/** The bytes of an array, for a record: no other array comes back from one as it was. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A copy of bytes of a record, which need not be aligned for the array that they were. */
export function alignedBytes(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

/** Address of a segment: the table's number, and the number of its first row, counted from the first that was ever appended. */
export type SegmentKey = readonly [owner: number, row: number];

/** Some columns' values: name, kind, validity bits, numbers as little-endian float64, text offsets as little-endian int32, UTF-8. */
export type StoredColumn = [
  name: string,
  kind: string,
  valid: Uint8Array | null,
  numbers: Uint8Array | null,
  offsets: Uint8Array | null,
  bytes: Uint8Array | null,
];

/** Rows that were appended together, or of several such segments. */
export interface SegmentRecord {
  rows: number;
  columns: StoredColumn[];
}

/** What a streaming detector was made with. */
export interface DetectorSettings {
  backend: string;
  minSamples: number;
  retrainInterval: number;
  windowSize: number;
  contamination: number;
  normalization: 'standardization' | 'zscore' | 'raw';
  /** Null: the share of `contamination` in what was learned. */
  threshold: number | null;
  rollingWindows: number[];
  lags: number[];
  /** How fields become numbers. */
  schema: Record<string, string> | null;
}

/** A streaming detector, without its rows and its model. */
export interface DetectorRecord {
  /** Its segments lie under this number. */
  owner: number;
  settings: DetectorSettings;
  /** Milliseconds since 1970. */
  createdMs: number;
  /** Samples since it was made or reset. */
  total: number;
  /** Samples that the model has not learned from. */
  sinceTraining: number;
  /** Scored samples above the threshold. */
  anomalies: number;
  /** Values of keys that the model does not know. */
  ignored: number;
  /** Trainings that failed. */
  failures: number;
  /** Trainings that succeeded; 0 = still collecting. */
  version: number;
  /** Keys that the model knows; empty while collecting. */
  columns: string[];
  /** Rows that the model learned from, by bin of their scores. */
  expected: number[];
  /** Samples scored since then, by the same bins. */
  recent: number[];
  /** The threshold in use; null while it is not known. */
  threshold: number | null;
}

/** A trained model with what its scores are compared to. */
export interface ModelRecord {
  /** Their values are a sample's numbers, in this order. */
  columns: string[];
  /** Had a value in every row that was learned from. */
  required: string[];
  /** Of the raw scores of the rows that were learned from; the deviation is of the population. */
  mean: number;
  deviation: number;
  /** The raw score that the share of `contamination` of those rows is above. */
  cut: number;
  /** Upper bounds of all bins of raw scores but the last. */
  edges: number[];
  /** Numbers, texts, and arrays by their type (`f64` or `i32`) and little-endian bytes. */
  state: Record<string, number | string | [type: 'f64' | 'i32', bytes: Uint8Array]>;
}
