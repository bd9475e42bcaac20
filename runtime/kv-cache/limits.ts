import { availableMemory } from '../hosts/memory.js';

/** Limits of the KV cache. */
export interface KvLimits {
  /** States in the memory of engine hosts, together. */
  readonly ramBytes: number;
  /** Files of states, together. */
  readonly diskBytes: number;
  /** Entries that may exist. */
  readonly entries: number;
  /** Time since its last use after which an unpinned entry goes. */
  readonly ttlS: number;
  readonly collectEveryMs: number;
  /** A state that takes more than this share of the memory that can be had is not restored. */
  readonly restoreShare: number;
  readonly availableBytes: () => number;
}

/** The limits of 4-runtime-wire 1.4, and a bound on entries. */
export const KV_LIMITS: KvLimits = {
  ramBytes: 2 * 1024 ** 3,
  diskBytes: 10 * 1024 ** 3,
  entries: 10_000,
  ttlS: 1800,
  collectEveryMs: 60_000,
  restoreShare: 0.4,
  availableBytes: availableMemory,
};

/** What one preparation may hold. */
export const PREPARE_LIMITS = { messages: 200, tools: 128, characters: 200_000 } as const;
