import { breathe } from '../base/loop.js';
import type { MemoryLineKey } from '../store/records.js';
import type { Store } from '../store/store.js';
import type { MemoryRecord } from './contract.js';

/** Lines or records read before other work gets its turn; the first page is small, since most reads want few. */
const PAGE = 256;
const FIRST_PAGE = 16;
/** Greater than every text that begins with what stands in front of it: names in keys have no control characters. */
const AFTER = '\u0001';

/** A line of an index, as a kind makes it of a record: the index's name, and what orders its lines. */
export interface Line {
  readonly index: string;
  readonly key: readonly (string | number)[];
  readonly value?: unknown;
}

/** A line as it is found again: `key` as it was given, and the number of the record. */
export interface FoundLine {
  readonly key: readonly (string | number)[];
  readonly seq: number;
  readonly value: unknown;
}

/** Which lines of an index are read: those whose keys begin with `prefix`, and go on from `from` to `to`, both included. */
export interface LineRange {
  readonly prefix?: readonly (string | number)[];
  readonly from?: number | string;
  readonly to?: number | string;
  readonly newestFirst?: boolean;
}

/** The key of a line on the disk. */
export function lineKey(owner: number, { index, key }: Line, seq: number): MemoryLineKey {
  return [owner, index, ...key, seq];
}

/** The first key behind all that begin with `prefix`. */
function keyBehind(prefix: readonly (string | number)[]): (string | number)[] {
  const last = prefix.at(-1)!;
  return [...prefix.slice(0, -1), typeof last === 'string' ? last + AFTER : last + 1];
}

/** Reads the records of one store and the lines of its indexes. What it yields is at most a page old. */
export class Lines {
  readonly #store: Store;
  /** The store's number; another one where it was emptied. */
  owner: number;

  constructor(store: Store, owner: number) {
    this.#store = store;
    this.owner = owner;
  }

  /** A record by its number; undefined for one that is gone. */
  record(seq: number): MemoryRecord | undefined {
    const stored = this.#store.memories.get([this.owner, seq]);
    return stored && ({ ...stored, seq } as MemoryRecord);
  }

  /** Lines in the order of their keys, a page at a time, with a pause between. */
  async *pages(index: string, { prefix = [], from, to, newestFirst = false }: LineRange = {}): AsyncGenerator<FoundLine[]> {
    const head = [this.owner, index, ...prefix];
    const low = from === undefined ? head : [...head, from];
    const high = to === undefined ? keyBehind(head) : behindPart(head, to);
    let range = newestFirst ? { start: high, end: low, reverse: true } : { start: low, end: high };
    for (let limit = FIRST_PAGE; ; limit = PAGE) {
      const page = this.#store.memoryLines.page({ ...range, limit });
      if (page.length > 0) yield page.map(({ key, value }) => foundLine(key, value));
      if (page.length < limit) return;
      const last = page.at(-1)!.key;
      // Numbers of records are whole, so that this lies between two lines.
      const next = [...last.slice(0, -1), (last.at(-1) as number) + (newestFirst ? -0.5 : 0.5)];
      range = newestFirst ? { start: next, end: low, reverse: true } : { start: next, end: high };
      await breathe();
    }
  }

  /** The first lines of a range, at most `limit`, at once. */
  first(index: string, prefix: readonly (string | number)[], limit: number): FoundLine[] {
    const start = [this.owner, index, ...prefix];
    return this.#store.memoryLines.page({ start, end: keyBehind(start), limit }).map(({ key, value }) => foundLine(key, value));
  }

  /** The first line whose key begins with a text behind `after`; for walking names without their lines. */
  firstBehind(index: string, after: string | undefined): FoundLine | undefined {
    const head = [this.owner, index];
    const start = after === undefined ? head : [...head, after + AFTER];
    const [found] = this.#store.memoryLines.page({ start, end: keyBehind(head), limit: 1 });
    return found && foundLine(found.key, found.value);
  }

  /** All records behind a number, in the order of their arrival. */
  async *records(afterSeq = 0): AsyncGenerator<MemoryRecord> {
    for (let start = afterSeq + 1; ; ) {
      const keys = this.#store.memories.keys({ start: [this.owner, start], end: [this.owner + 1], limit: PAGE });
      for (const [, seq] of keys) {
        const record = this.record(seq);
        if (record) yield record;
        await breathe();
      }
      if (keys.length < PAGE) return;
      start = keys.at(-1)![1] + 1;
    }
  }

  /** Numbers of records below one, the highest first. */
  seqsBelow(seq: number, limit: number): number[] {
    const range = { start: [this.owner, seq - 0.5], end: [this.owner], reverse: true, limit };
    return this.#store.memories.keys(range).map(([, found]) => found);
  }

  /** Numbers of all records, the newest first. */
  async *newest(): AsyncGenerator<{ readonly seq: number }[]> {
    for (let above = Number.POSITIVE_INFINITY; ; ) {
      const seqs = this.seqsBelow(above, PAGE);
      yield seqs.map((seq) => ({ seq }));
      if (seqs.length < PAGE) return;
      above = seqs.at(-1)!;
      await breathe();
    }
  }

  /** Names of small values that begin with a text. */
  notes(prefix: string): string[] {
    const start = [this.owner, prefix] as const;
    return this.#store.memoryNotes.keys({ start, end: [this.owner, `${prefix}~`], limit: PAGE }).map(([, name]) => name);
  }

  /** A small value that lies beside the records. */
  note(name: string): unknown {
    return this.#store.memoryNotes.get([this.owner, name]);
  }
}

/** The first key behind all whose next part is at most `to`. */
function behindPart(head: readonly (string | number)[], to: number | string): (string | number)[] {
  // Behind a number come the numbers of records, and those are less than infinity.
  return typeof to === 'string' ? [...head, to + AFTER] : [...head, to, Number.POSITIVE_INFINITY];
}

function foundLine(key: MemoryLineKey, value: unknown): FoundLine {
  return { key: key.slice(2, -1) as (string | number)[], seq: key.at(-1) as number, value };
}
