/** What streaming detectors may take. */
export interface StreamLimits {
  readonly detectors: number;
  /** Detectors that are kept in memory although nobody uses them. */
  readonly loaded: number;
  /** Trainings in the background that run at the same time; each has its rows in memory. */
  readonly retrainings: number;
}

/** Unless tests say otherwise. */
export const STREAM_LIMITS: StreamLimits = { detectors: 500, loaded: 64, retrainings: 4 };
/** Keys of a sample that count. */
export const MAX_STREAM_COLUMNS = 100;
/** Numbers beyond this are refused: detectors take no larger ones. */
export const LARGEST_SAMPLE = 1e100;
/** Numbers that a model learns from: rows times columns and their features. */
export const MAX_TRAINING_NUMBERS = 2 ** 22;
/** Characters of a detector's name. */
export const MAX_DETECTOR_NAME = 128;
/** Samples after which a training that failed is tried again while collecting. */
export const RETRY_SAMPLES = 10;
