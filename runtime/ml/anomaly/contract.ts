import type { AnomalyNormalization } from '../../../native/contract.js';
import type { AnomalyBackend } from './backends.js';
import type { RowSchema } from './encoder.js';

/** Which model is meant. */
export interface ModelAsk {
  /** Also `name-latest`. */
  readonly model: string;
  readonly backend: AnomalyBackend;
  /** That of the fit. Where it is given, a model fitted with another does not count. */
  readonly normalization?: AnomalyNormalization | undefined;
}

/** A detector is to be fitted and saved. */
export interface FitAsk {
  readonly model: string;
  readonly backend: AnomalyBackend;
  readonly normalization: AnomalyNormalization;
  /** Arrays of numbers, or objects where there is a schema. */
  readonly data: readonly unknown[];
  readonly schema?: RowSchema | undefined;
  readonly contamination: number;
  /** Of the autoencoder. */
  readonly epochs: number;
  /** Of the autoencoder. */
  readonly batchSize: number;
  /** False: a new version is made. */
  readonly overwrite: boolean;
  readonly description?: string | undefined;
}

/** A model as others see it. */
export interface ModelFacts {
  /** With its version. */
  readonly model: string;
  readonly threshold: number;
  readonly normalization: AnomalyNormalization;
  readonly filename: string;
  readonly path: string;
  readonly encoderPath: string | null;
  readonly schema: RowSchema | null;
  /** Names of columns, where the rows were objects. */
  readonly features: readonly string[] | null;
}

/** A fitted detector, on disk. */
export interface FitResult extends ModelFacts {
  readonly samples: number;
  readonly columns: number;
  readonly trainingTimeMs: number;
}

/** Rows are to be scored. */
export interface ScoreAsk extends ModelAsk {
  readonly data: readonly unknown[];
  /** Replaces the fitted one; 0 counts as absent, as in the reference system. */
  readonly threshold?: number | undefined;
  readonly explain: boolean;
  /** Names for the columns of an explanation. */
  readonly featureNames?: readonly string[] | undefined;
}

/** Scores of rows in their order. A row is an anomaly where its score is above the threshold. */
export interface ScoreResult {
  /** With its version. */
  readonly model: string;
  readonly threshold: number;
  readonly raw: Float64Array;
  readonly scores: Float64Array;
  /** What each column adds to the raw score, one row after the other. */
  readonly explanation?: { readonly names: readonly string[]; readonly contributions: Float64Array } | undefined;
}

/** A file of the models' folder. */
export interface ListedAnomalyModel {
  readonly name: string;
  readonly filename: string;
  /** `unknown` for a file that has no backend in its name. */
  readonly backend: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly description?: string | undefined;
}

/** Batch anomaly detection: in this process, or in runtimes that are spoken to over HTTP. */
export interface AnomalyService {
  /** Throws `bad_request` for rows that cannot be learned, `too_large`, `busy` when too many fits wait. Once `signal` is aborted nothing is saved. */
  fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult>;
  /** Throws `bad_request` for a model that is not fitted and for rows of another width, `invalid` for a file that is no model. */
  score(ask: ScoreAsk, signal: AbortSignal): Promise<ScoreResult>;
  /** Sees to it that a model is on disk, and notes its description. Throws `not_found`. */
  save(ask: ModelAsk, description: string | undefined, signal: AbortSignal): Promise<ModelFacts>;
  /** Reads a model from disk into memory. Throws `not_found` with what is there, `invalid` for a file that is no model. */
  load(ask: ModelAsk, signal: AbortSignal): Promise<ModelFacts>;
  /** Newest first. */
  list(signal: AbortSignal): Promise<{ readonly folder: string; readonly models: readonly ListedAnomalyModel[] }>;
  /** Removes a file of the list and what belongs to it. Throws `bad_request` for what is no file name, `not_found`. */
  remove(filename: string, signal: AbortSignal): Promise<void>;
}
