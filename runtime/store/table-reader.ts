import { Failure } from '../../schemas/errors.js';
import { type Environment, isPossibleKey, type Range, type RawTable, type StoredKey } from './environment.js';
import { decodeRecord, unsealRecord } from './record-bytes.js';
import { TABLE_NAMES, type TableName, type Tables } from './tables.js';

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

/**
 * Reads one table. Each call sees everything whose write has resolved, and holds no read transaction when it returns. Throws `internal`
 * for a record that the disk has changed.
 */
export class TableReader<Name extends TableName> {
  readonly #name: Name;
  readonly #raw: RawTable;
  readonly #counts: StoreCounts;
  readonly #damaged: (reason: string) => void;

  constructor(name: Name, raw: RawTable, counts: StoreCounts, damaged: (reason: string) => void) {
    this.#name = name;
    this.#raw = raw;
    this.#counts = counts;
    this.#damaged = damaged;
  }

  /** The value under a key, decoded anew each time. */
  get(key: Tables[Name]['key']): Tables[Name]['value'] | undefined {
    const record = isPossibleKey(key as StoredKey) ? this.#raw.get(key as StoredKey) : undefined;
    if (record === undefined) return undefined;
    this.#counts.read += 1;
    return this.#value(key as StoredKey, record);
  }

  /** Up to `range.limit` records in key order. `range.end` is not included. Long tables are read page by page, with a pause between. */
  page(range: Range & { limit: number }): Entry<Name>[] {
    const entries: Entry<Name>[] = [];
    if (!isPossibleRange(range)) return entries;
    for (const { key, value } of this.#raw.getRange(range))
      entries.push({ key: key as Tables[Name]['key'], value: this.#value(key, value) });
    this.#counts.read += entries.length;
    return entries;
  }

  /** Up to `range.limit` keys in order. */
  keys(range: Range & { limit: number }): Tables[Name]['key'][] {
    return isPossibleRange(range) ? ([...this.#raw.getKeys(range)] as Tables[Name]['key'][]) : [];
  }

  #value(key: StoredKey, record: Uint8Array): Tables[Name]['value'] {
    try {
      return decodeRecord(unsealRecord(this.#name, key, record)) as Tables[Name]['value'];
    } catch (cause) {
      this.#damaged((cause as Error).message);
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

/** A table for each name of `TABLE_NAMES`. */
type Readers = { readonly [Name in TableName]: TableReader<Name> };

/** The open tables of a store, each as a property under its name, and what they count together. `damaged` is told of each record that the disk has changed. */
abstract class NamedTables {
  readonly counts: StoreCounts = { read: 0, written: 0 };

  constructor({ tables }: Environment) {
    const damaged = (reason: string): void => this.damaged(reason);
    for (const name of TABLE_NAMES)
      Object.defineProperty(this, name, { value: new TableReader(name, tables[name], this.counts, damaged), enumerable: true });
  }

  protected abstract damaged(reason: string): void;
}

/** `NamedTables` with the types of its properties, which TypeScript cannot tell from a loop. */
export const StoreTables = NamedTables as abstract new (environment: Environment) => NamedTables & Readers;
