import { readColumns } from '../../native/columns.js';
import type { ColumnKind, ColumnValues, NativeColumns } from '../../native/contract.js';
import { log } from '../base/log.js';
import { breathe } from '../base/loop.js';
import { alignedBytes, type Batch, bytesOf, type Chain, type SegmentRecord, type Store, type StoredColumn } from '../store/store.js';
import { appendTo, type Cells } from './cells.js';

interface Segment {
  /** Its key. */
  first: number;
  rows: number;
  bytes: number;
  /** The number of its first row in the native table, once they are there. */
  at: number | undefined;
}

/** Segments that are read at once. */
const PAGE = 16;

/** So many neighbours of about the same size become one. */
const MERGED_TOGETHER = 64;
/** Rows from which a segment counts as one of the second size, and above which it stays as it is. */
const SIZES = [MERGED_TOGETHER, MERGED_TOGETHER ** 2] as const;
/** Segments that are larger together stay as they are. */
const MERGED_BYTES = 2 ** 20;

/**
 * The rows of one native table on the disk: a segment per append, neighbours merged as they add up, so that each row is written three times at most
 * and a table has few segments however it was filled. Segments whose rows the table has forgotten go with the next append.
 */
export class SegmentLog {
  readonly #store: Store;
  readonly #owner: number;
  readonly #native: NativeColumns;
  #segments: Segment[] = [];
  /** Rows that are in the native table, those of earlier included. */
  #applied = 0;
  #next = 0;
  #merging: Promise<void> | undefined;

  constructor(store: Store, owner: number, native: NativeColumns) {
    this.#store = store;
    this.#owner = owner;
    this.#native = native;
  }

  /** Rows that were ever appended. */
  get next(): number {
    return this.#next;
  }

  /** Whether segments are being merged. */
  get merging(): boolean {
    return this.#merging !== undefined;
  }

  /** Fills the empty native table. */
  async load(): Promise<void> {
    let start: [number, number] = [this.#owner, 0];
    for (;;) {
      const page = this.#store.segments.page({ start, end: [this.#owner + 1], limit: PAGE });
      for (const { key, value } of page) {
        const cells = cellsOfRecord(value);
        await appendTo(this.#native, cells);
        this.#segments.push({ first: key[1], rows: cells.rows, bytes: sizeInBytes(cells), at: this.#applied });
        this.#applied += cells.rows;
        this.#next = key[1] + cells.rows;
      }
      const last = page.at(-1);
      if (last === undefined) return;
      start = [this.#owner, last.key[1] + 1];
      await breathe();
    }
  }

  /** Writes rows, and what `also` adds in the same transaction. Resolves when they are on disk; the caller then says `applied`, in the same order. */
  async append(cells: Cells, also?: (batch: Batch) => void, chain?: Chain): Promise<void> {
    const segment: Segment = { first: this.#next, rows: cells.rows, bytes: sizeInBytes(cells), at: undefined };
    this.#next += cells.rows;
    const { first: kept } = this.#native.stats();
    const gone = this.#segments.filter(({ at, rows }) => at !== undefined && at + rows <= kept);
    if (gone.length > 0) this.#segments = this.#segments.filter((one) => !gone.includes(one));
    if (cells.rows > 0) this.#segments.push(segment);
    try {
      await this.#store.write((batch) => {
        for (const { first } of gone) batch.remove('segments', [this.#owner, first]);
        if (cells.rows > 0) batch.put('segments', [this.#owner, segment.first], segmentRecord(cells));
        also?.(batch);
      }, chain);
    } catch (failure) {
      this.#segments = [...gone, ...this.#segments.filter((one) => one !== segment)];
      if (this.#next === segment.first + segment.rows) this.#next = segment.first;
      throw failure;
    }
  }

  /** So many rows more are in the native table: those of the oldest segment of which that was not known. */
  noteApplied(rows: number): void {
    const segment = this.#segments.find(({ at }) => at === undefined);
    if (rows === 0 || segment === undefined) return;
    segment.at = this.#applied;
    this.#applied += rows;
    this.#merging ??= this.#merge().finally(() => {
      this.#merging = undefined;
    });
  }

  /** Takes all rows away, in a transaction of the caller's. Nothing may be under way but merging. */
  async clear(also: (batch: Batch) => void): Promise<void> {
    await this.#merging;
    await this.#store.write((batch) => {
      for (const { first } of this.#segments) batch.remove('segments', [this.#owner, first]);
      also(batch);
    });
    this.#segments = [];
    this.#applied = 0;
    this.#next = 0;
  }

  /** Waits for what goes on in the background. */
  async settled(): Promise<void> {
    await this.#merging;
  }

  async #merge(): Promise<void> {
    try {
      for (let run = this.#mergeable(); run !== undefined; run = this.#mergeable()) await this.#mergeRun(run);
    } catch (cause) {
      log('warn', 'segments could not be merged; they stay as they are', { cause });
    }
  }

  /** The last so many neighbours that end with one of a size and are no larger. */
  #mergeable(): Segment[] | undefined {
    const known = this.#segments.filter(({ at }) => at !== undefined);
    for (const [size] of SIZES.entries()) {
      const until = known.findLastIndex((one) => sizeOf(one) === size) + 1;
      const run = known.slice(Math.max(0, until - MERGED_TOGETHER), until);
      const bytes = run.reduce((sum, one) => sum + one.bytes, 0);
      if (run.length === MERGED_TOGETHER && bytes <= MERGED_BYTES && run.every((one) => sizeOf(one) <= size)) return run;
    }
    return undefined;
  }

  async #mergeRun(run: readonly Segment[]): Promise<void> {
    const last = run.at(-1)!;
    const frame = await readColumns(this.#native, { from: run[0]!.at!, until: last.at! + last.rows });
    const first = Math.max(run[0]!.first, last.first + last.rows - frame.rows);
    const merged: Segment = { first, rows: frame.rows, bytes: sizeInBytes(frame), at: last.at! + last.rows - frame.rows };
    await this.#store.write((batch) => {
      for (const one of run) batch.remove('segments', [this.#owner, one.first]);
      if (frame.rows > 0) batch.put('segments', [this.#owner, first], segmentRecord(frame));
    });
    const rest = this.#segments.filter((one) => !run.includes(one));
    const place = rest.findIndex((one) => one.first > first);
    if (frame.rows > 0) rest.splice(place < 0 ? rest.length : place, 0, merged);
    this.#segments = rest;
  }
}

function cellsOfRecord({ rows, columns }: SegmentRecord): Cells {
  const out = columns.map(([name, kind, valid, numbers, offsets, bytes]): ColumnValues => {
    const values: ColumnValues = { name, kind: kind as ColumnKind };
    if (valid) values.valid = new Uint8Array(alignedBytes(valid));
    if (numbers) values.numbers = new Float64Array(alignedBytes(numbers));
    if (offsets) values.offsets = new Int32Array(alignedBytes(offsets));
    if (bytes) values.bytes = new Uint8Array(alignedBytes(bytes));
    return values;
  });
  return { rows, columns: out };
}

function sizeInBytes({ columns }: Cells): number {
  return columns.reduce((sum, { valid, numbers, offsets, bytes }) => {
    return sum + [valid, numbers, offsets, bytes].reduce((all, array) => all + (array?.byteLength ?? 0), 16);
  }, 0);
}

function segmentRecord({ rows, columns }: Cells): SegmentRecord {
  const packed = columns.map(({ name, kind, valid, numbers, offsets, bytes }): StoredColumn => {
    return [name, kind, valid ?? null, numbers ? bytesOf(numbers) : null, offsets ? bytesOf(offsets) : null, bytes ?? null];
  });
  return { rows, columns: packed };
}

const sizeOf = ({ rows }: Segment): number => SIZES.filter((least) => rows >= least).length;

/** Names that tables of tenants have in the store begin with it; a client's never do, and come before. */
export const TENANTS_FROM = '~';
/** By what all views of one store have in common. */
const taken = new WeakMap<Store['meta'], number>();

const COUNTER = 'tables';

/** A number that no table of the store ever had, taken in the transaction that makes the table. */
export function takeOwner(store: Store, batch: Batch): number {
  const owner = Math.max(taken.get(store.meta) ?? 0, store.meta.get(COUNTER) ?? 0) + 1;
  taken.set(store.meta, owner);
  batch.put('meta', COUNTER, owner);
  return owner;
}
