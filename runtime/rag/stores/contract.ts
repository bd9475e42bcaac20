import type { StoreType } from '../../../schemas/generated/config/rag.js';
import type { Health } from '../../base/health.js';
import type { Metadata } from '../../documents/contract.js';
import type { Chunk, EmbeddedChunk, Filter, Hit } from '../contract.js';

/** A question to a store. */
export interface StoreQuery {
  /** For dense search. */
  readonly vector?: Float32Array;
  /** For lexical search (BM25). With both, two rankings come back. */
  readonly text?: string;
  /** Hits wanted per ranking. */
  readonly k: number;
  readonly filter?: Filter;
}

/** Hits of a question, the best first; `plan` says how they were found (scan or graph, rows allowed by the filter), for `explain`. */
export interface StoreAnswer {
  readonly dense: readonly Hit[];
  readonly lexical: readonly Hit[];
  readonly plan: Metadata;
}

/** One document of a store. */
export interface StoredDocument {
  readonly documentHash: string;
  readonly chunks: number;
  /** Metadata of its first chunk. */
  readonly metadata: Metadata;
}

/** Sizes of a store. */
export interface StoreStats {
  readonly chunks: number;
  readonly documents: number;
  readonly dimensions: number | undefined;
  readonly metric: string;
  readonly contentBytes: number;
  readonly indexBytes: number;
  readonly lastUpdated: string | undefined;
}

/** Keeps the chunks of one database. What is acknowledged is on disk; indexes are accelerations that are rebuilt from it. */
export interface VectorStore {
  readonly type: StoreType;
  /** Chunks whose id is there already are skipped. All of one call or none. Throws `invalid` naming both dimensions, `disk_full`, `unavailable`. */
  add(chunks: readonly EmbeddedChunk[], signal: AbortSignal): Promise<{ stored: number; skipped: number }>;
  /** Which of the ids it has. */
  has(ids: readonly string[]): Promise<Set<string>>;
  /** Removes all chunks of a document; returns how many there were. */
  removeDocument(documentHash: string): Promise<number>;
  query(query: StoreQuery, signal: AbortSignal): Promise<StoreAnswer>;
  /** Documents sorted by lower-case file name, `limit` from `offset` on. */
  documents(offset: number, limit: number): Promise<readonly StoredDocument[]>;
  /** All chunks, in batches, in the order of their ids. */
  chunks(): AsyncIterable<readonly EmbeddedChunk[]>;
  /** Chunks of a document in its order, `limit` from number `from` on. */
  documentChunks(documentHash: string, from: number, limit: number): Promise<Chunk[]>;
  /** How many chunks each of the documents has; absent where that would take a question to a server for each. */
  chunkCounts?(documentHashes: readonly string[]): Promise<number[]>;
  stats(): Promise<StoreStats>;
  health(): Promise<Health>;
  /** Gives space back; returns the bytes before and after. */
  compact(): Promise<{ bytesBefore: number; bytesAfter: number }>;
  /** Builds the indexes anew from the stored chunks. */
  reindex(): Promise<{ chunks: number }>;
  /** Removes the collection with everything in it. */
  drop(): Promise<void>;
  close(): Promise<void>;
}

/** How a database compares vectors. */
export type Metric = 'cosine' | 'ip' | 'l2';
