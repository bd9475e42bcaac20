/** Settings of a fit. */
export interface ClassifierFitOptions {
  /** Of the embeddings, 1 to 16384. */
  dimensions: number;
  /** Labels are 0 to `classes` - 1; 1 to 4096. */
  classes: number;
  /** Rows that will come, about: 1 to 2^20. Room is made for them at once; where more come, `add` may take long. */
  rows?: number;
  /** Pairs of one label, and as many of two labels, per sample: 1 to 1000, 20 when missing. */
  iterations?: number;
  /** Pairs of one step, 1 to 4096, 16 when missing. */
  batchSize?: number;
  /** 42 when missing; 0 to 2^32 - 1. */
  seed?: number;
  /** 1 when missing. Results do not depend on it. */
  threads?: number;
}

/** What cross-validation says of a label: shares from 0 to 1, and how many samples the label has. */
export interface ClassifierLabelQuality {
  precision: number;
  recall: number;
  f1: number;
  support: number;
  /** Which labels its samples were given while they were held out, as pairs of label and number of samples. */
  given: [label: number, samples: number][];
}

/** What stratified cross-validation says of a fit. */
export interface ClassifierQuality {
  folds: number;
  /** Share of held-out samples that the chosen head labels right. */
  accuracy: number;
  /** The same of a logistic regression without a projection. */
  plainAccuracy: number;
  /** By label. */
  labels: ClassifierLabelQuality[];
}

/** Embeddings in, probabilities out. Freed with the object. */
export interface NativeClassifier {
  readonly dimensions: number;
  readonly classes: number;
  /** Whether a trained projection stands before the head. */
  readonly projected: boolean;
  /**
   * One row of `classes` calibrated probabilities per row of `dimensions` numbers, on the thread pool. Copied in the call; at most 2^18
   * numbers, else Failure('too_large'). Rejects with Failure('invalid') for a number that is not finite.
   */
  predict(vectors: Float32Array): Promise<Float32Array>;
  /** Writes the model beside `path`, waits for the disk, renames. Rejects with Failure('disk_full') or ('unavailable'). */
  save(path: string, generation: bigint): Promise<void>;
}

/** A classifier with what is known of it. */
export interface FittedClassifier {
  model: NativeClassifier;
  /** Null where no label has two samples. */
  quality: ClassifierQuality | null;
}

/** A fit that gathers its samples first. */
export interface NativeClassifierFit {
  /**
   * Sync, copies: one row of `dimensions` numbers per label; at most 2^18 numbers a call. Throws Failure('invalid') for a row that is not
   * finite or all zeros, and adds nothing then.
   */
  add(vectors: Float32Array, labels: Uint32Array): void;
  /**
   * Fits on a thread of its own, once. Rejects with Failure('bad_request') for fewer than two samples or labels, ('too_large') where samples times
   * classes are more than 2^22, with ('unavailable') after
   * `cancel`, which ends the thread within some 10 ms.
   */
  run(): Promise<FittedClassifier>;
  cancel(): void;
}
