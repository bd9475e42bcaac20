/** Address of a memory store. */
export type MemoryKey = readonly [namespace: string, project: string, store: string];

/** What is kept about a memory store beside its records. */
export interface MemoryStoreRecord {
  /** Its own number: its records lie under it, and a store that starts anew gets another. */
  owner: number;
  /** The number that its next record gets, from 1. */
  nextSeq: number;
  /** When its newest record came, in milliseconds since 1970. */
  newestMs: number;
  /** What its indexes were made by; another value means that they are made anew. */
  shape: string;
  /** How many records there are, how many each kind keeps, and so on, by name. */
  counts: Record<string, number>;
}

/** Address of a record: the number of its store, and its own. */
export type MemoryRecordKey = readonly [owner: number, seq: number];

/** A record of a memory store without its number; `runtime/memory/contract.ts` says what its members mean. */
export interface StoredMemory {
  id: string;
  type: string;
  data: unknown;
  text: string;
  timeMs: number;
  addedMs: number;
  kinds: readonly string[];
}

/** A line of an index of a memory store: its number, the index's name, what orders the lines, and the record's number. */
export type MemoryLineKey = readonly [owner: number, index: string, ...key: (string | number)[]];
