import type { JsonObject } from '../../base/json.js';
import type { Chunk } from '../../rag/contract.js';

/** Bytes of all files of one dataset, unless the runtime is opened with another quota. */
export const DATASET_BYTES = 100 * 2 ** 30;
/** Bytes of one uploaded file. */
export const FILE_BYTES = 10 * 2 ** 30;
/** Files of one bulk upload. */
export const MAX_BULK_FILES = 100;
/** `parser_overrides` as JSON text. */
export const OVERRIDES_BYTES = 10_000;
/** Largest `chunk_size` that an override may ask for. */
export const MAX_CHUNK_SIZE = 100_000;
/** Folders whose file lists are kept in memory; the least recently used go first. */
export const MAX_CACHED_FOLDERS = 500;
/** Small files that are read at the same time. */
export const READS_AT_ONCE = 32;

/** Settings for one run that go over those of the strategy's parsers: by parser type, and under `*` for all of them. */
export type ParserOverrides = Readonly<Record<string, JsonObject>>;

/** An uploaded file, for reading. */
export interface DatasetFile {
  readonly path: string;
  /** As the user calls it, without folders. */
  readonly name: string;
  /** SHA-256 of its bytes, in hex: the document hash of its chunks. */
  readonly hash: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Number of the upload among those of its name; absent for the first. */
  readonly version?: number;
}

/** One file to take into the database of its dataset. */
export interface IngestRequest {
  readonly namespace: string;
  readonly project: string;
  readonly dataset: string;
  /** Of the dataset when the task was started. */
  readonly database: string;
  /** The processing strategy of the dataset when the task was started. */
  readonly strategy: string;
  readonly file: DatasetFile;
  readonly overrides: ParserOverrides;
}

/** What a running ingestion is told and tells. */
export interface IngestContext {
  /** Aborts when the task is cancelled or the daemon stops: end after the chunk batch under way. */
  readonly signal: AbortSignal;
  /** From 1; higher when earlier tries failed or were cut short. */
  readonly attempt: number;
  /** To be awaited before the first chunk is added: notes on disk that a cancellation must take the file's chunks back. */
  willStore(): Promise<void>;
  /** Chunks so far; `stored` counts those that this run has added. Cheap, to be called per batch. */
  report(progress: { readonly done: number; readonly total?: number; readonly stored: number }): void;
}

/** What became of one file. A file that cannot be read is an outcome; a service that is down is a thrown `Failure`, which is retried. */
export interface FileOutcome {
  readonly status: 'success' | 'skipped' | 'failed';
  /** `duplicate` where the database had every chunk; why, where it failed; else null. */
  readonly reason: string | null;
  /** Type of the parser that read it. */
  readonly parser: string | null;
  readonly extractors: readonly string[];
  /** Chunks that the file has. */
  readonly chunks: number;
  readonly chunkSize: number | null;
  /** Type of the embedder. */
  readonly embedder: string | null;
  readonly storedCount: number;
  readonly skippedCount: number;
  /** Documents made of the file; 1 for most kinds. */
  readonly documentCount: number;
  readonly documentIds: readonly string[];
  /** What could not be read, such as pages without text. */
  readonly warnings: readonly string[];
}

/** Takes files into retrieval databases and out again. Both calls may be repeated after a crash: what is there already is left alone. */
export interface Ingest {
  /** Throws `unavailable`, `timed_out`, `busy` or `disk_full` for what may work later, any other `Failure` for what will not. */
  ingest(request: IngestRequest, context: IngestContext): Promise<FileOutcome>;
  /** Removes every chunk of a document; returns how many there were. Throws `not_found` for an unknown database. */
  removeDocument(place: {
    readonly namespace: string;
    readonly project: string;
    readonly database: string;
    readonly documentHash: string;
  }): Promise<number>;
  /** Removes what earlier runs have kept of documents besides their chunks: their bytes are not in the project any more. */
  forgetDocuments(place: {
    readonly namespace: string;
    readonly project: string;
    readonly documentHashes: readonly string[];
  }): Promise<void>;
  /** Chunks of a document, `limit` from number `from` on, in their order. */
  documentChunks(place: {
    readonly namespace: string;
    readonly project: string;
    readonly database: string;
    readonly documentHash: string;
    readonly from: number;
    readonly limit: number;
  }): Promise<Chunk[]>;
  /** How many chunks each of the documents has in a database; undefined where that is not known at once. */
  chunkCounts?(place: {
    readonly namespace: string;
    readonly project: string;
    readonly database: string;
    readonly documentHashes: readonly string[];
  }): Promise<number[] | undefined>;
}

/** What all files of a task that processes a dataset have in common. */
export interface DatasetWork {
  readonly dataset: string;
  readonly database: string;
  readonly strategy: string;
  readonly overrides: ParserOverrides;
}
