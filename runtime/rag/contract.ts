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
