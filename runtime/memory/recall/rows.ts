import { breathe } from '../../base/loop.js';
import type { MemoryRecord, MemoryType, Place, ReadFilter } from '../contract.js';
import { distanceM } from '../sphere.js';

/** Rows that are looked at between two looks at the clock. A multiple of 8. */
const STRIDE = 4096;
/** A little less than there are, so that a box of degrees holds the circle. */
const METRES_PER_DEGREE = 110_000;
const QUESTION = /[?？]\s*$/;
/** Which rows a question may find. */
export interface RowFilter extends Omit<ReadFilter, 'limit'> {
  /** Only records that are no user's. */
  readonly isOfNobody?: true;
  /** Not farther than `radiusM` metres. */
  readonly near?: Place & { readonly radiusM: number };
}

/** The rows that pass a filter. */
export interface Allowed {
  /** Bit `i & 7` of byte `i >> 3` is row `i`. */
  readonly bits: Uint8Array;
  readonly count: number;
  has(row: number): boolean;
}

/** Texts by numbers that take less room; 0 stands for none. */
class Codes {
  readonly #codes = new Map<string, number>();

  of(text: string | undefined): number {
    if (text === undefined) return 0;
    const code = this.#codes.get(text) ?? this.#codes.size + 1;
    this.#codes.set(text, code);
    return code;
  }

  /** The code of a text, or -1 for one that no row has. */
  known(text: string): number {
    return this.#codes.get(text) ?? -1;
  }
}

/** What of the records decides whether a question may find them, in columns by row. Rows of records that are gone are used again. */
export class Rows {
  readonly seq: number[] = [];
  readonly id: string[] = [];
  readonly timeMs: number[] = [];
  /** From when to when what a fact says holds; always, of other records. */
  readonly fromMs: number[] = [];
  readonly toMs: number[] = [];
  readonly isFact: boolean[] = [];
  /** Whether its text ends as questions do. */
  readonly isQuestion: boolean[] = [];
  readonly #lat: number[] = [];
  readonly #lon: number[] = [];
  readonly #type: number[] = [];
  readonly #user: number[] = [];
  readonly #session: number[] = [];
  readonly #tags: (readonly string[] | undefined)[] = [];
  readonly #alive: boolean[] = [];
  /** Rows whose records are gone. */
  readonly #free: number[] = [];
  readonly #names = new Codes();
  readonly #rowOfSeq = new Map<number, number>();
  readonly #rowOfId = new Map<string, number>();

  /** Rows that are there. */
  get size(): number {
    return this.#rowOfSeq.size;
  }

  /** One more than the last row. */
  get end(): number {
    return this.seq.length;
  }

  ofSeq(seq: number): number | undefined {
    return this.#rowOfSeq.get(seq);
  }

  ofId(id: string): number | undefined {
    return this.#rowOfId.get(id);
  }

  /** The numbers of all records that are there. */
  seqs(): Iterable<number> {
    return this.#rowOfSeq.keys();
  }

  isAlive(row: number): boolean {
    return this.#alive[row] === true;
  }

  place(row: number): Place | undefined {
    const [lat, lon] = [this.#lat[row]!, this.#lon[row]!];
    return Number.isNaN(lat) ? undefined : { lat, lon };
  }

  /** Takes a record in. With `reuse` it may get the row of one that is gone, which nobody may have in hand any more. */
  add(record: MemoryRecord, reuse: boolean): number {
    const row = (reuse ? this.#free.pop() : undefined) ?? this.seq.length;
    this.#rowOfSeq.set(record.seq, row);
    this.#rowOfId.set(record.id, row);
    this.seq[row] = record.seq;
    this.id[row] = record.id;
    this.timeMs[row] = record.timeMs;
    this.isFact[row] = record.type === 'fact';
    this.isQuestion[row] = QUESTION.test(record.text.slice(-8));
    this.fromMs[row] = record.valid?.fromMs ?? Number.NEGATIVE_INFINITY;
    this.toMs[row] = record.valid?.toMs ?? Number.POSITIVE_INFINITY;
    this.#lat[row] = record.place?.lat ?? Number.NaN;
    this.#lon[row] = record.place?.lon ?? Number.NaN;
    this.#type[row] = this.#names.of(record.type);
    this.#user[row] = this.#names.of(record.who?.user);
    this.#session[row] = this.#names.of(record.who?.session);
    this.#tags[row] = record.tags;
    this.#alive[row] = true;
    return row;
  }

  /** Without an end the fact holds again. */
  endFact(row: number, toMs = Number.POSITIVE_INFINITY): void {
    this.toMs[row] = toMs;
  }

  /** Returns the row that a record had. */
  remove(seq: number): number | undefined {
    const row = this.#rowOfSeq.get(seq);
    if (row === undefined) return undefined;
    this.#rowOfSeq.delete(seq);
    this.#rowOfId.delete(this.id[row]!);
    this.#alive[row] = false;
    this.#free.push(row);
    return row;
  }

  /** The rows that pass; undefined where all do. */
  async allowed(filter: RowFilter): Promise<Allowed | undefined> {
    const tests = this.#tests(filter);
    if (tests.length === 0 && this.size === this.end) return undefined;
    const bits = new Uint8Array((this.end + 7) >> 3);
    const keep = new Uint8Array(STRIDE);
    let count = 0;
    for (let from = 0; from < this.end; from += STRIDE) {
      await breathe();
      const to = Math.min(this.end, from + STRIDE);
      for (let row = from; row < to; row += 1) keep[row - from] = this.#alive[row] ? 1 : 0;
      for (const drop of tests) drop(keep, from, to);
      for (let row = from; row < to; row += 1) {
        if (keep[row - from] === 0) continue;
        bits[row >> 3]! |= 1 << (row & 7);
        count += 1;
      }
    }
    return { bits, count, has: (row) => (bits[row >> 3]! & (1 << (row & 7))) !== 0 };
  }

  #tests({ fromMs, toMs, asOfMs, types, user, session, tags, near, isOfNobody }: RowFilter): Drop[] {
    const latest = Math.min(toMs ?? Number.POSITIVE_INFINITY, asOfMs ?? Number.POSITIVE_INFINITY);
    const drops: Drop[] = [];
    if (user !== undefined) drops.push(rowsWithout(this.#user, this.#names.known(user)));
    if (isOfNobody) drops.push(rowsWithout(this.#user, 0));
    if (session !== undefined) drops.push(rowsWithout(this.#session, this.#names.known(session)));
    if (fromMs !== undefined || Number.isFinite(latest)) drops.push(outside(this.timeMs, fromMs ?? Number.NEGATIVE_INFINITY, latest));
    if (types !== undefined) {
      const codes = new Set(types.map((type: MemoryType) => this.#names.known(type)));
      drops.push(failing((row) => codes.has(this.#type[row]!)));
    }
    if (tags !== undefined && tags.length > 0) drops.push(failing((row) => tags.every((tag) => this.#tags[row]?.includes(tag) ?? false)));
    if (near !== undefined) {
      const reach = near.radiusM / METRES_PER_DEGREE;
      drops.push(outside(this.#lat, near.lat - reach, near.lat + reach));
      drops.push(failing((row) => distanceM(near, { lat: this.#lat[row]!, lon: this.#lon[row]! }) <= near.radiusM));
    }
    return drops;
  }
}

/** Takes the marks from the rows of a stretch that do not pass; mark 0 is row `from`. */
type Drop = (keep: Uint8Array, from: number, to: number) => void;

// Loops of their own over one column each: several times as fast as a list of tests for each row.
const rowsWithout =
  (column: readonly number[], code: number): Drop =>
  (keep, from, to) => {
    for (let row = from; row < to; row += 1) if (column[row] !== code) keep[row - from] = 0;
  };

/** A value that is no number lies outside. */
const outside =
  (column: readonly number[], least: number, most: number): Drop =>
  (keep, from, to) => {
    for (let row = from; row < to; row += 1) if (!(column[row]! >= least && column[row]! <= most)) keep[row - from] = 0;
  };

const failing =
  (passes: (row: number) => boolean): Drop =>
  (keep, from, to) => {
    for (let row = from; row < to; row += 1) if (keep[row - from] === 1 && !passes(row)) keep[row - from] = 0;
  };
