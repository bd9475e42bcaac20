import type { MemoryStore as StoreConfig } from '../../schemas/generated/config/memory.js';
import type { KindName, MemoryRecord, NewMemory } from './contract.js';
import type { Line, Lines } from './lines.js';

/** One record before and after a change, each undefined where it was or is not there. */
export interface RecordChange {
  readonly before: MemoryRecord | undefined;
  readonly after: MemoryRecord | undefined;
}

/** What a kind of one store works with. */
export interface KindSpace {
  readonly lines: Lines;
  readonly config: StoreConfig;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls back after each change that is on the disk, before its writer is told. */
  changed(listener: (changes: readonly RecordChange[]) => void): void;
}

/**
 * A kind of store. Its indexes are functions of the records, so that they are made anew from them; the store writes records and lines in one
 * transaction.
 */
export interface MemoryKind<Reads extends object = object> {
  readonly name: KindName;
  /** The index that has one line for each record of this kind. */
  readonly index: string;
  /** Whether the project turned it on in this store. */
  isOn(config: StoreConfig): boolean;
  /** Whether it keeps such a record, whose time is `timeMs`. */
  takes(record: NewMemory & { readonly timeMs: number }, config: StoreConfig, nowMs: number): boolean;
  /** Whether it keeps a record still that it took; absent: while it takes such a one. */
  keeps?(record: MemoryRecord, config: StoreConfig, nowMs: number): boolean;
  /** The lines of its indexes for a record. */
  lines(record: MemoryRecord, config: StoreConfig): readonly Line[];
  /** Numbers of records that it does not keep any more, a few at a time; the same come again until they are gone. Absent: it keeps all. */
  expired?(space: KindSpace, count: number): number[];
  /** Its reads. */
  open(space: KindSpace): Reads;
}

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;
/** Most records that `expired` names at once. */
export const EXPIRED_AT_ONCE = 256;
