import type { ClassifierQuality } from '../../../native/contract.js';

/** A text whose label is known. */
export interface Example {
  readonly text: string;
  readonly label: string;
}

/** A classifier is to be fitted and saved. */
export interface FitAsk {
  readonly model: string;
  /** The embedding model; when absent the usual one where it is here, else TF-IDF. */
  readonly baseModel?: string | undefined;
  readonly examples: readonly Example[];
  /** Pairs of one label, and as many of two labels, per example. */
  readonly iterations: number;
  /** Pairs of one step. */
  readonly batchSize: number;
  readonly seed: number;
  /** False: a new version is made. */
  readonly overwrite: boolean;
}

/** A classifier as others see it. */
export interface ClassifierFacts {
  /** With its version. */
  readonly model: string;
  readonly path: string;
  /** Sorted. */
  readonly labels: readonly string[];
}

/** A fitted classifier, on disk. */
export interface FitResult extends ClassifierFacts {
  readonly samples: number;
  /** What made the embeddings. */
  readonly embedder: string;
  readonly projected: boolean;
  /** Null where no label has two examples. Its labels are in the order of `labels`. */
  readonly quality: ClassifierQuality | null;
  readonly embeddingTimeMs: number;
  /** Embedding included. */
  readonly trainingTimeMs: number;
  readonly notes: readonly string[];
}

/** Probabilities of texts in their order. */
export interface Predictions {
  /** With its version. */
  readonly model: string;
  readonly labels: readonly string[];
  /** One row per text, one number per label. */
  readonly probabilities: Float32Array;
}

/** A directory of the classifiers' folder. */
export interface ListedClassifier extends ClassifierFacts {
  readonly modifiedMs: number;
  readonly description?: string | undefined;
}

/** Text classifiers: in this process, or in runtimes that are spoken to over HTTP. */
export interface ClassifierService {
  /**
   * Throws `bad_request` for examples that cannot be learned, `invalid` for one that is blank, `not_found` for an embedding model that is
   * not here, `busy` when too many fits wait. Once `signal` is aborted nothing is saved.
   */
  fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult>;
  /** Reads the classifier from disk where it is not in memory. Throws `not_found`, `bad_request` while its first fit runs, `model_failed` where its files are damaged. */
  predict(model: string, texts: readonly string[], signal: AbortSignal): Promise<Predictions>;
  /** Sees to it that a classifier is on disk, and notes its description. Throws as `predict`. */
  save(model: string, description: string | undefined, signal: AbortSignal): Promise<ClassifierFacts>;
  /** Reads a classifier from disk into memory. Throws `not_found` with what is there, `model_failed` where its files are damaged. */
  load(model: string, signal: AbortSignal): Promise<ClassifierFacts>;
  /** Newest first. */
  list(signal: AbortSignal): Promise<{ readonly folder: string; readonly models: readonly ListedClassifier[] }>;
  /** Removes a classifier from disk and memory; where it was. Throws `bad_request` for what is no name, `not_found`. */
  remove(name: string, signal: AbortSignal): Promise<string>;
}
