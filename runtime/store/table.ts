import { decoded } from './codec.js';
import type { Range, RawTable, StoredKey } from './environment.js';
import type { TableName, Tables } from './tables.js';

/** How many records were read and written since the store was opened. */
export interface StoreCounts {
  read: number;
  written: number;
}

/** A record with its key. */
export interface Entry<Name extends TableName> {
  key: Tables[Name]['key'];
  value: Tables[Name]['value'];
}

/** Reads one table. Each call sees everything whose write has resolved, and holds no read transaction when it returns. */
export class Table<Name extends TableName> {
  readonly #raw: RawTable;
  readonly #counts: StoreCounts;

  constructor(raw: RawTable, counts: StoreCounts) {
    this.#raw = raw;
    this.#counts = counts;
  }

  /** The value under a key, decoded anew each time. */
  get(key: Tables[Name]['key']): Tables[Name]['value'] | undefined {
    const bytes = this.#raw.get(key as StoredKey);
    if (bytes === undefined) return undefined;
    this.#counts.read += 1;
    return decoded(bytes) as Tables[Name]['value'];
  }

  /** Up to `range.limit` records in key order. `range.end` is not included. Long tables are read page by page, with a pause between. */
  page(range: Range & { limit: number }): Entry<Name>[] {
    const entries: Entry<Name>[] = [];
    for (const { key, value } of this.#raw.getRange(range)) {
      entries.push({ key: key as Tables[Name]['key'], value: decoded(value) as Tables[Name]['value'] });
    }
    this.#counts.read += entries.length;
    return entries;
  }

  /** Up to `range.limit` keys in order. */
  keys(range: Range & { limit: number }): Tables[Name]['key'][] {
    return [...this.#raw.getKeys(range)] as Tables[Name]['key'][];
  }
}
