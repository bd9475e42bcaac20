import { breathe } from '../../base/loop.js';
import type { MemoryRecord, MemoryType, Place, ReadFilter } from '../contract.js';
import { distanceM } from '../places/sphere.js';

/** Rows that are looked at between two looks at the clock. */
const STRIDE = 4096;
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

  endFact(row: number, toMs: number): void {
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
    let count = 0;
    for (let row = 0; row < this.end; row += 1) {
      if (row % STRIDE === STRIDE - 1) await breathe();
      if (!this.#alive[row] || !tests.every((test) => test(row))) continue;
      bits[row >> 3]! |= 1 << (row & 7);
      count += 1;
    }
    return { bits, count, has: (row) => (bits[row >> 3]! & (1 << (row & 7))) !== 0 };
  }

  #tests({ fromMs, toMs, asOfMs, types, user, session, tags, near, isOfNobody }: RowFilter): ((row: number) => boolean)[] {
    const tests: ((row: number) => boolean)[] = [];
    const same = (column: readonly number[], text: string): void => {
      const code = this.#names.known(text);
      tests.push((row) => column[row] === code);
    };
    if (user !== undefined) same(this.#user, user);
    if (isOfNobody) tests.push((row) => this.#user[row] === 0);
    if (session !== undefined) same(this.#session, session);
    if (fromMs !== undefined) tests.push((row) => this.timeMs[row]! >= fromMs);
    if (toMs !== undefined) tests.push((row) => this.timeMs[row]! <= toMs);
    if (asOfMs !== undefined) tests.push((row) => this.timeMs[row]! <= asOfMs);
    if (types !== undefined) {
      const codes = new Set(types.map((type: MemoryType) => this.#names.known(type)));
      tests.push((row) => codes.has(this.#type[row]!));
    }
    if (tags !== undefined && tags.length > 0) tests.push((row) => tags.every((tag) => this.#tags[row]?.includes(tag) ?? false));
    if (near !== undefined) {
      const reach = near.radiusM / 110_000;
      tests.push(
        (row) =>
          Math.abs(this.#lat[row]! - near.lat) <= reach && distanceM(near, { lat: this.#lat[row]!, lon: this.#lon[row]! }) <= near.radiusM,
      );
    }
    return tests;
  }
}
