import { Failure } from '../../schemas/errors.js';
import { isPossibleKey, type Range, type RawTable, type StoredKey } from './environment.js';
import { decoded, unsealed } from './record-bytes.js';
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

/** What the tables of one store share. */
export interface TableOwner {
  readonly counts: StoreCounts;
  /** Called when a record turns out to be damaged. */
  damaged(reason: Error): void;
}

/**
 * Reads one table. Each call sees everything whose write has resolved, and holds no read transaction when it returns. Throws `internal`
 * for a record that the disk has changed.
 */
export class Table<Name extends TableName> {
  readonly #name: Name;
  readonly #raw: RawTable;
  readonly #owner: TableOwner;

  constructor(name: Name, raw: RawTable, owner: TableOwner) {
    this.#name = name;
    this.#raw = raw;
    this.#owner = owner;
  }

  /** The value under a key, decoded anew each time. */
  get(key: Tables[Name]['key']): Tables[Name]['value'] | undefined {
    const record = isPossibleKey(key as StoredKey) ? this.#raw.get(key as StoredKey) : undefined;
    if (record === undefined) return undefined;
    this.#owner.counts.read += 1;
    return this.#value(key as StoredKey, record);
  }

  /** Up to `range.limit` records in key order. `range.end` is not included. Long tables are read page by page, with a pause between. */
  page(range: Range & { limit: number }): Entry<Name>[] {
    const entries: Entry<Name>[] = [];
    if (!isPossibleRange(range)) return entries;
    for (const { key, value } of this.#raw.getRange(range))
      entries.push({ key: key as Tables[Name]['key'], value: this.#value(key, value) });
    this.#owner.counts.read += entries.length;
    return entries;
  }

  /** Up to `range.limit` keys in order. */
  keys(range: Range & { limit: number }): Tables[Name]['key'][] {
    return isPossibleRange(range) ? ([...this.#raw.getKeys(range)] as Tables[Name]['key'][]) : [];
  }

  #value(key: StoredKey, record: Uint8Array): Tables[Name]['value'] {
    try {
      return decoded(unsealed(this.#name, key, record)) as Tables[Name]['value'];
    } catch (cause) {
      this.#owner.damaged(cause as Error);
      throw new Failure(
        'internal',
        'The state store has a damaged record. Start the daemon again: it then repairs the store and says what was lost.',
        {
          cause,
        },
      );
    }
  }
}

/** Ranges begin and end with names that a client gave: below one that no key can have there is nothing. */
function isPossibleRange({ start, end }: Range): boolean {
  return [start, end].every((bound) => bound === undefined || isPossibleKey(bound));
}
