/** How vectors compare. A higher score is always better: cosine similarity (-1 to 1), inner product, or minus the squared Euclidean distance. */
export type VectorMetric = 'cosine' | 'inner_product' | 'l2';

/** How rows are kept: f32; f16, whose scores are those of the rounded rows; i8, whose codes find candidates that f32 rows beside them score. */
export type VectorStorage = 'f32' | 'f16' | 'i8';

/** Settings of an index; they cannot change. */
export interface VectorIndexOptions {
  /** 1 to 16384. */
  dimensions: number;
  metric: VectorMetric;
  storage: VectorStorage;
  graph?: {
    /** Links of a graph row, 4 to 128, 16 when missing. More find more and take more memory. */
    connectivity?: number;
    /** Candidates kept while a row finds its place, 8 to 4096, 128 when missing. */
    effortBuild?: number;
  };
  /** Rows up to which every search is a scan and no graph is made; when missing, where the graph becomes faster for these dimensions. */
  scanBelow?: number;
}

/** Settings of one search. */
export interface VectorSearchOptions {
  /** Candidates that the graph keeps, 1 to 16384, 64 when missing: the higher, the more of the true neighbours. */
  effort?: number;
  /** Ids that may be found: bit `i & 7` of byte `i >> 3` is id `i`. Ids beyond the array may not. Copied. */
  filter?: Uint8Array;
  /** The true neighbours by the full vectors, without graph or codes. */
  exact?: boolean;
}

/** What a search found, best first; equal scores come by ascending id. Fewer than `k` only when fewer are allowed. */
export interface VectorAnswer {
  ids: Uint32Array;
  /** As long as `ids`. */
  scores: Float32Array;
  plan: 'scan' | 'graph';
  /** Rows that were compared with the query. */
  scanned: number;
}

/** How an index file was found: unless it was loaded, the index is unchanged, and the caller adds the rows again. */
export interface IndexLoad {
  /** `stale`: another generation, other settings, or another layout. `corrupt`: bytes that are not what was saved. */
  state: 'loaded' | 'missing' | 'stale' | 'corrupt';
  /** Empty when loaded. */
  reason: string;
}

/** A moment of an index. */
export interface VectorIndexStats {
  /** Rows that can be found. */
  rows: number;
  /** Replaced or removed rows that still take room; dropped in the background when they are more than a quarter. */
  deleted: number;
  /** Rows that the graph holds, deleted ones included; 0 = every search is a scan. */
  graphRows: number;
  /** Memory, about; rows of a loaded file count although they are mapped. */
  bytes: number;
}

/**
 * Vectors by id (dense uint32, chosen by the caller), searched by an exact scan or a graph, whichever is faster. Arrays are copied in
 * the call, so they may change afterwards. Everything but `stats` runs on the thread pool, searches beside each other and beside one
 * writer; but a `search` of about 0.1 ms that need not wait is answered in the call, as long as such calls take less than 0.2 ms between two
 * turns of the event loop. Calls that are not awaited have no order. Promises reject with Failure('invalid') for bad arguments and bad vectors, and after
 * `close` with Failure('unavailable').
 */
export interface NativeVectorIndex {
  /**
   * `vectors` has one row of `dimensions` numbers per id, in order; existing ids are replaced. At most 2^18 numbers, else Failure('too_large').
   * Rejects, and adds nothing, when a row has NaN, infinity, a magnitude beyond 1e15 (f16: 65504), or with cosine length 0. The graph
   * follows in the background.
   */
  add(ids: Uint32Array, vectors: Float32Array): Promise<void>;
  /** How many of the ids were there. */
  remove(ids: Uint32Array): Promise<number>;
  /** The `k` (1 to 16384) best rows for a query of `dimensions` numbers. */
  search(query: Float32Array, k: number, options?: VectorSearchOptions): Promise<VectorAnswer>;
  /** One answer per query; `queries` has one after the other, at most 2^18 numbers. */
  searchMany(queries: Float32Array, k: number, options?: VectorSearchOptions): Promise<VectorAnswer[]>;
  /** Writes what is there at this moment beside `path`, waits for the disk, renames. Rejects with Failure('disk_full') or ('unavailable'). */
  save(path: string, generation: bigint): Promise<void>;
  /** Replaces everything by a file of `save` with the same generation (0 to 2^64 - 1) and settings, after every byte was verified. */
  load(path: string, generation: bigint): Promise<IndexLoad>;
  /** Sync, waits for nobody. */
  stats(): VectorIndexStats;
  /** Ends the background work; calls that run are still answered, then the memory is freed. */
  close(): Promise<void>;
}
