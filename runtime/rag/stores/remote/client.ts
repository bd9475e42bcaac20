import type { Chunk, EmbeddedChunk } from '../../contract.js';
import type { Condition } from '../filter.js';

/** A chunk that was found on a server; `raw` as `scoreOf` wants it. */
export interface RemoteHit {
  readonly chunk: Chunk;
  readonly raw: number;
}

/** One collection on a server. A collection that is not there is an empty one. Failures are those of `Server`. */
export interface CollectionClient {
  /** `host` as it may be shown. */
  readonly host: string;
  /** Of the vectors there; undefined while there are none. */
  dimensions(): Promise<number | undefined>;
  /** Makes the collection where it is missing. */
  prepare(dimensions: number): Promise<void>;
  /** Which of the ids are there; at most BATCH. */
  existing(ids: readonly string[]): Promise<Set<string>>;
  /** Stores chunks, at most BATCH, in place of those with their ids. */
  put(chunks: readonly EmbeddedChunk[], signal: AbortSignal): Promise<void>;
  /** Removes chunks by their ids, at most BATCH. */
  erase(ids: readonly string[]): Promise<void>;
  /** Removes a document; returns how many chunks it had. */
  eraseDocument(documentHash: string): Promise<number>;
  /** The `limit` nearest of those that may pass the conditions: every one that does is among them, others may be. */
  nearest(vector: Float32Array, limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<RemoteHit[]>;
  /** At most about `limit` chunks, in any order, in whose text a word begins with one of `beginnings`, and that may pass the conditions. */
  matching(beginnings: readonly string[], limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<Chunk[]>;
  /** All chunks without their vectors, in any order. */
  list(): AsyncIterable<readonly Chunk[]>;
  /** Chunks by their ids, at most BATCH, in any order. */
  fetch(ids: readonly string[]): Promise<EmbeddedChunk[]>;
  count(): Promise<number>;
  /** Removes the collection. */
  drop(): Promise<void>;
  /** Throws when the server does not answer. */
  ping(): Promise<void>;
}

/** Most chunks of one request. */
export const BATCH = 256;

/** A list in parts of at most BATCH. */
export function batches<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < items.length; at += BATCH) parts.push(items.slice(at, at + BATCH));
  return parts;
}
