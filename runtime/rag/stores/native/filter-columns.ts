import { SerialQueue } from '../../../base/gate.js';
import { turn } from '../../../base/loop.js';
import type { Metadata } from '../../../documents/contract.js';
import type { Store } from '../../../store/store.js';
import { type Condition, filteredValue, passes } from '../metadata.js';
import type { Collection } from './collection.js';
import { Bitmap, chunkPages } from './rows.js';

/** Columns that are kept; the one that was used longest ago goes first. */
const MAX_COLUMNS = 16;
/** Answers that are kept until the next change. */
const MAX_ANSWERS = 8;
/** Rows that are looked at between two pauses. */
const ROWS_AT_ONCE = 2 ** 17;
/** Different values that are tested between two pauses. */
const VALUES_AT_ONCE = 2 ** 12;

/**
 * Turns filters into sets of rows. The first filter on a path reads all metadata once; from then on it costs one test per different value
 * and one look-up per row. Memory: 4 bytes per row and path, and about 100 bytes per different value.
 */
export class FilterColumns {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #queue = new SerialQueue();
  readonly #columns = new Map<string, Column>();
  readonly #answers = new Map<string, Bitmap>();

  constructor(store: Store, collection: Collection) {
    this.#store = store;
    this.#collection = collection;
  }

  /** The rows before `end` that pass all conditions. Shared: not to be changed. */
  async allowed(conditions: readonly Condition[], end: number): Promise<Bitmap> {
    const { collection, generation } = this.#collection.record;
    const name = JSON.stringify([collection, generation, end, conditions]);
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    const columns = await this.#queue.run(() => this.#covered(new Set(conditions.map(({ path }) => path)), end));
    const answer = await this.#evaluate(conditions, columns, end);
    this.#answers.set(name, answer);
    if (this.#answers.size > MAX_ANSWERS) this.#answers.delete(this.#answers.keys().next().value!);
    return answer;
  }

  async #covered(paths: ReadonlySet<string>, end: number): Promise<Map<string, Column>> {
    const wanted = new Map<string, Column>();
    for (const path of paths) {
      const column = this.#columns.get(path) ?? new Column();
      wanted.set(path, column);
      this.#columns.delete(path);
      this.#columns.set(path, column);
    }
    const behind = [...wanted].filter(([, column]) => column.end < end);
    const first = Math.min(end, ...behind.map(([, column]) => column.end));
    for await (const page of chunkPages(this.#store, this.#collection.record.collection, first, end)) {
      for (const { row, chunk } of page) {
        for (const [path, column] of behind) if (row >= column.end) column.set(row, filteredValue(chunk.metadata as Metadata, path));
      }
    }
    for (const [, column] of behind) column.end = end;
    for (const path of this.#columns.keys()) {
      if (this.#columns.size <= Math.max(MAX_COLUMNS, wanted.size)) break;
      this.#columns.delete(path);
    }
    return wanted;
  }

  async #evaluate(conditions: readonly Condition[], columns: ReadonlyMap<string, Column>, end: number): Promise<Bitmap> {
    const tests: { codes: Uint32Array; pass: Uint8Array }[] = [];
    for (const condition of conditions) {
      const { codes, values } = columns.get(condition.path)!;
      const pass = new Uint8Array(values.length);
      for (let code = 1; code < pass.length; code += 1) {
        pass[code] = passes(condition, values[code]) ? 1 : 0;
        if (code % VALUES_AT_ONCE === 0) await turn();
      }
      tests.push({ codes, pass });
    }
    const { alive } = this.#collection;
    const allowed = new Bitmap(end);
    for (let row = 0; row < end; row += 1) {
      if (alive.has(row) && tests.every(({ codes, pass }) => pass[codes[row] ?? 0] === 1)) allowed.add(row);
      if (row % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await turn();
    }
    return allowed;
  }
}

/** The values of one metadata path: a code of 4 bytes per row, and every different value once. */
class Column {
  /** Rows before this one are known. */
  end = 0;
  /** 0 = there is no such row. */
  codes = new Uint32Array(1024);
  readonly values: unknown[] = [undefined];
  readonly #codeOf = new Map<unknown, number>();

  set(row: number, value: unknown): void {
    if (row >= this.codes.length) {
      const codes = new Uint32Array(Math.max(row + 1, this.codes.length * 2));
      codes.set(this.codes);
      this.codes = codes;
    }
    const known = typeof value === 'object' && value !== null ? `\u0000${JSON.stringify(value)}` : (value ?? undefined);
    let code = this.#codeOf.get(known);
    if (code === undefined) {
      code = this.values.push(value) - 1;
      this.#codeOf.set(known, code);
    }
    this.codes[row] = code;
  }
}
