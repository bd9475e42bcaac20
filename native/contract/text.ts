import type { IndexLoad } from './vectors.js';

/** Settings of an index; they cannot change. */
export interface TextIndexOptions {
  /** Whether words are brought to their English stems. */
  language: 'english' | 'none';
  /** How soon more occurrences stop to count: 0 to 1000, 1.2 when missing. */
  k1?: number;
  /** How much long texts are marked down: 0 to 1, 0.75 when missing. */
  b?: number;
}

/** Settings of how a query is understood. */
export interface TextQueryOptions {
  /** Whether one word is enough (`or`, when missing) or all are needed. */
  operator?: 'or' | 'and';
  /** The last word stands for all words that begin with it: for the first 1,024 terms in the order of their bytes. */
  prefix?: boolean;
}

/** Settings of one search. */
export interface TextSearchOptions extends TextQueryOptions {
  /** Ids that may be found: bit `i & 7` of byte `i >> 3` is id `i`. Ids beyond the array may not. Copied. */
  filter?: Uint8Array;
}

/** What a search found, best first; equal scores come by ascending id. */
export interface TextAnswer {
  ids: Uint32Array;
  /** As long as `ids`. */
  scores: Float32Array;
  /** All that match when these are fewer than `k`; otherwise at least so many, because what cannot reach the first `k` is left out. */
  matched: number;
}

/** One condition of a query. */
export interface TextClause {
  kind: 'term' | 'prefix' | 'phrase';
  occur: 'should' | 'must' | 'not';
  /** The term; the terms of the phrase in order; of a prefix the beginning, then the stems of words that begin so. */
  terms: string[];
  /** How often it was written. */
  count: number;
}

/** A moment of an index. */
export interface TextIndexStats {
  documents: number;
  /** Lengths of all documents together. */
  words: number;
  /** Dictionary entries; a term counts once in each segment. */
  terms: number;
  segments: number;
  /** Replaced or removed documents that still take room, at most a third of a segment. */
  deleted: number;
  /** Memory; what lies in a loaded file counts although it is mapped. */
  bytes: number;
}

/**
 * Texts by id (uint32 below 2^32 - 1, chosen by the caller), found by their words with BM25 as Lucene computes it, with exact lengths.
 * Words are taken without case, width and accents; identifiers count as a whole and by their parts; scripts without spaces by pairs of
 * characters. Strings and arrays are copied in the call (about 1 ms per MiB). Everything but `stats` and `terms` runs on the thread
 * pool, searches beside each other and beside one writer; calls that are not awaited have no order. Promises reject with
 * Failure('invalid') for bad arguments, ('too_large') beyond a limit, and after `close` with ('unavailable').
 */
export interface NativeTextIndex {
  /** One text per id, in order; existing ids are replaced. At most 16 MiB per text, 64 MiB and 2^20 texts per call. All or nothing. */
  add(ids: Uint32Array, texts: string[]): Promise<void>;
  /** How many of the ids were there. */
  remove(ids: Uint32Array): Promise<number>;
  /** The `k` (1 to 16384) best texts. `"Quoted words"` must stand together, `+word` must and `-word` must not occur. At most 16 KiB and 256 terms. */
  search(query: string, k: number, options?: TextSearchOptions): Promise<TextAnswer>;
  /** Sync. What the query is understood as. */
  terms(query: string, options?: TextQueryOptions): TextClause[];
  /** Writes what is there at this moment beside `path`, waits for the disk, renames. Rejects with Failure('disk_full') or ('unavailable'). */
  save(path: string, generation: bigint): Promise<void>;
  /** Replaces everything by a file of `save` with the same generation (0 to 2^64 - 1) and settings, after every byte was verified. */
  load(path: string, generation: bigint): Promise<IndexLoad>;
  stats(): TextIndexStats;
  /** Refuses new calls; those that run still answer. The memory goes with the last of them. */
  close(): Promise<void>;
}
