import type { NativeColumns } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import { quote } from '../../config/names.js';
import { wrongValue } from '../tables/cells.js';
import { MAX_STREAM_COLUMNS } from './limits.js';
import type { Sample } from './samples.js';

/** What keys the samples since a cold start had. */
export class SeenKeys {
  readonly #values = new Map<string, number>();
  #samples = 0;

  /** Of the rows of a table, which has all samples so far. */
  static async of(table: NativeColumns): Promise<SeenKeys> {
    const seen = new SeenKeys();
    const { rows, columns } = await table.read();
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

/** Throws `invalid` where a sample lacks a key that every learned sample had, or has a text under one that had numbers. */
export function checkKeys(
  { numbers, texts }: Sample,
  row: number,
  keys: { readonly columns: readonly string[]; readonly required: readonly string[] },
): void {
  for (const key of keys.columns) {
    const text = texts.get(key);
    if (text !== undefined) throw wrongValue(row, key, text, 'is a text where the detector learned numbers');
  }
  for (const key of keys.required) {
    if (numbers.has(key)) continue;
    const msg = `row ${row} lacks the key ${quote(key)}, which every sample had that the detector learned from`;
    throw new Failure('invalid', `${msg[0]!.toUpperCase()}${msg.slice(1)}; send it, null where it is unknown.`, {
      errors: [{ type: 'missing', loc: ['body', 'data', row, key], msg }],
    });
  }
}
