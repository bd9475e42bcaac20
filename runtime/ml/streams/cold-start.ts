import { readColumns } from '../../../native/columns.js';
import type { NativeColumns } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import type { DetectorRecord } from '../../store/store.js';
import { wrongValue } from '../cells.js';
import { checkKeys, type Sample } from './samples.js';
import { checkSize } from './training.js';

/** Keys of a sample that count. */
const MAX_STREAM_COLUMNS = 100;
/** Samples after which a training that failed is tried again. */
export const RETRY_SAMPLES = 10;

/** What keys the samples since a cold start had. */
class SeenKeys {
  readonly #values = new Map<string, number>();
  #samples = 0;

  /** Of the rows of a table, which has all samples so far. */
  static async of(table: NativeColumns): Promise<SeenKeys> {
    const seen = new SeenKeys();
    const { rows, columns } = await readColumns(table);
    seen.#samples = rows;
    for (const { name, kind, valid } of columns) {
      if (kind === 'null') continue;
      let values = rows;
      for (let row = 0; valid && row < rows; row += 1) values -= 1 - ((valid[row >> 3]! >> (row & 7)) & 1);
      seen.#values.set(name, values);
    }
    return seen;
  }

  copy(): SeenKeys {
    const copy = new SeenKeys();
    for (const [key, values] of this.#values) copy.#values.set(key, values);
    copy.#samples = this.#samples;
    return copy;
  }

  /** Throws `invalid` where a key that had numbers has a text, `too_large` for too many keys. */
  add({ numbers, texts }: Sample, row: number): void {
    this.#samples += 1;
    for (const [key, value] of numbers) this.#values.set(key, (this.#values.get(key) ?? 0) + (value === null ? 0 : 1));
    for (const [key, text] of texts)
      if (this.#values.has(key)) throw wrongValue(row, key, text, 'is a text where earlier samples had numbers');
    if (this.#values.size > MAX_STREAM_COLUMNS)
      throw new Failure('too_large', `Row ${row} brings the ${this.#values.size}th key with numbers; ${MAX_STREAM_COLUMNS} are allowed.`);
  }

  /** What a model can learn from. Throws `invalid` where no sample had a number. */
  keys(): { columns: string[]; required: string[] } {
    const columns = [...this.#values].filter(([, values]) => values > 0).map(([key]) => key);
    if (columns.length === 0)
      throw new Failure('invalid', 'No sample has a number; texts count only under a schema, such as {"field": "hash"}.', {
        errors: [{ type: 'no_numbers', loc: ['body', 'data'], msg: 'no sample has a number' }],
      });
    return { columns, required: columns.filter((key) => this.#values.get(key) === this.#samples) };
  }
}

/** The time before the first model: which keys the samples had, and how many samples the first training waits for. */
export class ColdStart {
  #seen = new SeenKeys();
  #retryAt = 0;

  /** Takes up the keys of the rows of a table, which has all samples so far. */
  async load(table: NativeColumns): Promise<void> {
    this.#seen = await SeenKeys.of(table);
  }

  /** Checks samples as they will be taken; returns how many come before the first model. Throws `invalid` or `too_large`, and takes none. */
  check(samples: readonly Sample[], record: DetectorRecord): number {
    const needed = Math.max(1, this.#trainsAt(record) - record.total);
    const seen = this.#seen.copy();
    for (const [row, sample] of samples.slice(0, needed).entries()) seen.add(sample, row);
    if (samples.length < needed) return samples.length;
    const keys = seen.keys();
    checkSize(record.settings, keys.columns.length);
    for (const [index, sample] of samples.slice(needed).entries()) checkKeys(sample, needed + index, keys);
    return needed;
  }

  /** Takes the keys of a sample; `row` is its place in the request. */
  add(sample: Sample, row: number): void {
    this.#seen.add(sample, row);
  }

  /** Whether the samples suffice for a training. */
  due(record: DetectorRecord): boolean {
    return record.total >= this.#trainsAt(record);
  }

  /** What a model can learn from. Throws `invalid` where no sample had a number. */
  keys(): { columns: string[]; required: string[] } {
    return this.#seen.keys();
  }

  /** The training failed: the next one waits for some more samples. */
  retryLater({ total }: DetectorRecord): void {
    this.#retryAt = total + RETRY_SAMPLES;
  }

  /** Samples at which the next training begins. */
  #trainsAt({ settings }: DetectorRecord): number {
    return Math.max(settings.minSamples, this.#retryAt);
  }
}
