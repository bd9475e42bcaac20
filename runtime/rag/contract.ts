import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { Metadata } from '../documents/contract.js';

/** A passage with its identity, as stores keep it. */
export interface Chunk {
  /** `doc_<first 12 of document hash>_chunk_<index>_<first 8 of chunk hash>`. */
  readonly id: string;
  /** SHA-256 of the upload, in hex. */
  readonly documentHash: string;
  readonly text: string;
  readonly metadata: Metadata;
}

/** A chunk with its embedding, of the dimensions of its store, of length 1 where the metric is cosine. */
export interface EmbeddedChunk extends Chunk {
  readonly vector: Float32Array;
}

/** A chunk that an answer holds; a higher score is better, 0 to 1 where the store's metric allows. */
export interface Hit extends Chunk {
  readonly score: number;
  /** How the score came about, for `explain`. */
  readonly explanation?: Metadata;
}

/** A condition on metadata, all of whose keys must hold: a value, or operators (`$eq $ne $in $nin $gt $gte $lt $lte`, also without `$`). */
export type Filter = Readonly<Record<string, unknown>>;

/** Whose databases are asked. */
export interface RagScope {
  readonly namespace: string;
  readonly project: string;
  readonly config: ProjectConfig;
}

/** One question to a database. What is absent comes from the strategy's configuration. */
export interface Question {
  readonly text: string;
  /** Default: the project's default database, else its first. */
  readonly database?: string;
  /** Default: the database's default retrieval strategy, else the one marked so, else its first. */
  readonly strategy?: string;
  readonly topK?: number;
  readonly threshold?: number;
  readonly filter?: Filter;
  readonly explain?: boolean;
  /** How vectors are compared, where the strategy can be told. */
  readonly distanceMetric?: 'cosine' | 'euclidean' | 'manhattan' | 'dot';
  /** Share of dense search in a hybrid one; a strategy that is dense only becomes hybrid. */
  readonly hybridAlpha?: number;
  /** A reranking model of the project that puts the hits in order. */
  readonly rerankModel?: string;
  /** Asks in several ways. */
  readonly queryExpansion?: boolean;
  /** Most tokens of all hits together, four code units each; at least one hit stays. */
  readonly maxTokens?: number;
}

/** What was found, the best first. */
export interface Findings {
  readonly hits: readonly Hit[];
  readonly database: string;
  readonly strategy: string;
  readonly timeMs: number;
  /** What may explain that nothing was found, such as a filter on a key that no chunk has. */
  readonly warnings: readonly string[];
}

/** Asks the databases of projects. */
export interface Retrieval {
  /** Throws `bad_request` and `not_found` for names that are missing or unknown, naming the known ones, and what embedders and stores throw. `onStep` is told in words what is done next. */
  ask(scope: RagScope, question: Question, signal: AbortSignal, onStep?: (step: string) => void): Promise<Findings>;
}
