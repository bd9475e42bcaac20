import type { SequenceStates } from '../engines/contracts/language.js';
import type { Segment } from './segments.js';

/** A conversation whose KV state is kept. */
export interface KvRecord {
  /** 24 hex digits. */
  readonly key: string;
  /** As the client named it. */
  readonly model: string;
  readonly segments: readonly Segment[];
  readonly contentHash: string;
  readonly tokens: number;
  /** Of the state; 0 without one. */
  readonly bytes: number;
  /** `SequenceStates.tag` of the model that it is a state of; null without one. */
  readonly tag: string | null;
  pinned: boolean;
  /** Seconds since the last use; null = the default. */
  ttlS: number | null;
  readonly createdMs: number;
  lastUsedMs: number;
  hits: number;
}

/** A record with where its state is. */
export interface KvEntry extends KvRecord {
  /** The model whose host may hold a copy in memory. */
  holder?: SequenceStates;
}

/** Whether a file of the index can be a record. */
export function isRecord(value: unknown): value is KvRecord {
  const one = value as Partial<KvRecord> | null;
  return (
    typeof one === 'object' &&
    one !== null &&
    /^[0-9a-f]{24}$/.test(String(one.key)) &&
    typeof one.model === 'string' &&
    Array.isArray(one.segments) &&
    [one.tokens, one.bytes, one.createdMs, one.lastUsedMs, one.hits].every(Number.isFinite)
  );
}
