import { AnomalyFit } from './anomaly-objects.js';
import type {
  AnomalyFitOptions,
  ColumnFeatures,
  ColumnFrame,
  ColumnKind,
  ColumnsRead,
  ColumnsStats,
  ColumnValues,
  NativeAnomalyFit,
  NativeColumns,
} from './contract.js';
import { raised, settled } from './raised.js';

/** In the order of the C++ enumeration. */
const KINDS: readonly ColumnKind[] = ['null', 'i64', 'f64', 'bool', 'string'];

/** A frame as it comes out of C++, where an object and an array per column would take longer than their values. */
interface RawFrame {
  first: number;
  rows: number;
  names: string[];
  /** By place in `KINDS`. */
  kinds: Uint8Array;
  /** Of all columns with numbers, one after the other; missing where they are many. */
  numbers?: Float64Array;
  /** By place of the column: what else it has. */
  rest: Record<number, Partial<ColumnValues>>;
}

interface RawColumns extends Omit<NativeColumns, 'read'> {
  read(options?: ColumnsRead): Promise<RawFrame>;
}

function frameOf({ first, rows, names, kinds, numbers, rest }: RawFrame): ColumnFrame {
  let at = 0;
  const columns = names.map((name, index): ColumnValues => {
    const kind = KINDS[kinds[index]!]!;
    const values: ColumnValues = { name, kind, ...rest[index] };
    if (numbers && kind !== 'null' && kind !== 'string') {
      values.numbers = numbers.subarray(at, at + rows);
      at += rows;
    }
    return values;
  });
  return { first, rows, columns };
}

/** The C++ table with our failures. */
export class Columns implements NativeColumns {
  readonly #native: RawColumns;

  constructor(native: NativeColumns) {
    this.#native = native as unknown as RawColumns;
  }

  append(rows: number, columns: readonly ColumnValues[]): void {
    raised(() => this.#native.append(rows, columns));
  }

  clear(): void {
    this.#native.clear();
  }

  read(options?: ColumnsRead): Promise<ColumnFrame> {
    return settled(async () => frameOf(await this.#native.read(options)));
  }

  openFit(options: AnomalyFitOptions, columns: readonly string[], features: ColumnFeatures): NativeAnomalyFit {
    return new AnomalyFit(raised(() => this.#native.openFit(options, columns, features)));
  }

  latest(columns: readonly string[]): Float64Array {
    return raised(() => this.#native.latest(columns));
  }

  stats(): ColumnsStats {
    return this.#native.stats();
  }

  forgetFeatures(): void {
    this.#native.forgetFeatures();
  }
}
