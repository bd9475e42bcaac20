import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readColumns } from '../../native/columns.js';
import type {
  ColumnFeatures,
  ColumnFrame,
  ColumnsOptions,
  ColumnValues,
  NativeAnomalyFit,
  NativeColumns,
  RollingStatistic,
} from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';
import { fitAnomaly } from '../support/anomaly/fit.js';
import { idledDuring } from '../support/idle-threads.js';

const open = (options: ColumnsOptions = { capacity: 1000 }): NativeColumns => loadCore().openColumns(options);

function numbers(name: string, values: readonly (number | null)[], kind: 'f64' | 'i64' | 'bool' = 'f64'): ColumnValues {
  const valid = new Uint8Array(Math.ceil(values.length / 8));
  for (const [row, value] of values.entries()) if (value !== null) valid[row >> 3]! |= 1 << (row & 7);
  return { name, kind, valid, numbers: Float64Array.from(values, (value) => value ?? 0) };
}

/** Of a fit. */
const FIT = { backend: 'ecod', contamination: 0.1, normalization: 'raw', scaled: false } as const;

const column = (frame: ColumnFrame, name: string): ColumnValues => frame.columns.find((one) => one.name === name)!;

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

interface Golden {
  windows: number[];
  lags: number[];
  spans: number[];
  tables: Record<string, { columns: Record<string, (number | null)[]>; expected: Record<string, number[]> }>;
}

const GOLDEN = JSON.parse(readFileSync(join(import.meta.dirname, '../../../test/support/columns/golden/features.json'), 'utf8')) as Golden;
const STATISTICS: RollingStatistic[] = ['mean', 'std', 'min', 'max', 'sum', 'median', 'zscore', 'deviation', 'minmax_scaled'];

/** Polars subtracts what leaves a window, which costs it digits where values are equal or far from 0. */
const POLARS_IMPRECISE = ['constant', 'offset'];

describe('the features of Polars', () => {
  const { windows, lags, spans, tables } = GOLDEN;
  const features: ColumnFeatures = { windows, statistics: STATISTICS, lags, rates: lags, spans };
  for (const [name, { columns, expected }] of Object.entries(tables)) {
    it(`of the table ${name}`, async () => {
      const table = open();
      const rows = Object.values(columns)[0]!.length;
      table.append(
        rows,
        Object.entries(columns).map(([key, values]) => numbers(key, values)),
      );
      const frame = await readColumns(table, { features });
      assert.deepEqual(
        frame.columns.slice(Object.keys(columns).length).map((one) => one.name),
        Object.keys(expected),
      );
      for (const [feature, values] of Object.entries(expected)) {
        const [source] = feature.split(/_(?=rolling|zscore|deviation|minmax|lag|roc|ewm)/);
        const scale = Math.max(...columns[source!]!.map((value) => Math.abs(value ?? 0)));
        const spread = /std|zscore|deviation|minmax/.test(feature);
        for (const [row, value] of values.entries()) {
          const got = column(frame, feature).numbers![row]!;
          const digits = spread
            ? 1e-9 * Math.abs(value) + (POLARS_IMPRECISE.includes(name) ? 1e-5 : 1e-13)
            : 1e-12 * Math.max(Math.abs(value), scale);
          assert.ok(Math.abs(got - value) <= digits, `${feature} of row ${row} is ${got}, Polars has ${value}`);
        }
      }
    });
  }
});

describe('native columns', () => {
  it('exports what the contract lists', () => {
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(open())).filter((name) => name !== 'constructor');
    assert.deepEqual(methods.sort(), ['append', 'clear', 'forgetFeatures', 'latest', 'openFit', 'read', 'stats']);
  });

  it('gives back what was appended, in the layout of Arrow', async () => {
    const table = open({ capacity: 10 });
    table.append(3, [
      numbers('i', [1, null, 3], 'i64'),
      numbers('b', [1, 0, null], 'bool'),
      { name: 's', kind: 'string', offsets: Int32Array.of(0, 1, 1, 4), bytes: Buffer.from('aüx'), valid: Uint8Array.of(0b101) },
      { name: 'n', kind: 'null' },
    ]);
    const frame = await readColumns(table);
    assert.deepEqual([frame.first, frame.rows], [0, 3]);
    assert.deepEqual(column(frame, 'i'), { name: 'i', kind: 'i64', valid: Uint8Array.of(0b101), numbers: Float64Array.of(1, 0, 3) });
    assert.deepEqual(column(frame, 'b').numbers, Float64Array.of(1, 0, 0));
    assert.deepEqual(column(frame, 's').offsets, Int32Array.of(0, 1, 1, 4));
    assert.equal(Buffer.from(column(frame, 's').bytes!).toString(), 'aüx');
    assert.deepEqual(column(frame, 'n'), { name: 'n', kind: 'null', valid: Uint8Array.of(0) });
    assert.deepEqual(
      table.stats().columns.map(({ kind }) => kind),
      ['i64', 'bool', 'string', 'null'],
    );
  });

  it('reads on the pool what is large, as it was at the call', async () => {
    const table = open({ capacity: 100_000 });
    const values = Float64Array.from({ length: 8192 }, (_, row) => row);
    for (let piece = 0; piece < 12; piece += 1) table.append(8192, [{ name: 'x', kind: 'i64', numbers: values }]);
    const reading = readColumns(table, { features: { windows: [5, 50], lags: [1] } });
    const tail = readColumns(table, { tail: 6000, features: { windows: [50] } });
    table.append(1, [numbers('x', [0.5])]);
    table.append(2, [{ name: 'late', kind: 'bool', numbers: Float64Array.of(1, 0) }]);
    table.clear();
    const frame = await reading;
    assert.deepEqual([frame.rows, frame.columns.length, column(frame, 'x').kind], [98_304, 10, 'i64']);
    assert.equal(column(frame, 'x_rolling_mean_5').numbers!.at(-1), 8189);
    assert.equal(column(frame, 'x_lag_1').numbers![8192], 8191);
    const { rows, columns } = await tail;
    assert.equal(rows, 6000);
    assert.deepEqual(columns[1]!.numbers, column(frame, 'x_rolling_mean_50').numbers!.subarray(-6000));
    assert.equal(table.stats().next, 0);
  });

  it('goes on from the last read of the same features, also beside appends, in the ring and after a clear', async () => {
    const all: ColumnFeatures = { windows: [3, 500], statistics: STATISTICS, lags: [1, 40], rates: [2], spans: [5, 90] };
    const few: ColumnFeatures = { windows: [3], lags: [1] };
    for (const capacity of [60, 5000]) {
      const table = open({ capacity });
      const value = (row: number): number | null => (row % 5 === 0 ? null : ((row * 7919) % 1000) / 8);
      let next = 0;
      const append = (rows: number): void => {
        table.append(rows, [
          numbers(
            'x',
            Array.from({ length: rows }, () => value(next++)),
          ),
        ]);
      };
      const same = async (tail: number, features: ColumnFeatures): Promise<void> => {
        const [got, made] = [readColumns(table, { tail, features }), readColumns(table, { from: 0, until: next, features })];
        // Both are of this moment.
        append(1);
        for (const [at, { name, numbers: mine }] of (await got).columns.entries()) {
          const theirs = (await made).columns[at]!.numbers!.slice(-tail);
          assert.equal(mine!.length, theirs.length);
          for (const [row, expected] of theirs.entries())
            assert.ok(
              Math.abs(mine![row]! - expected) <= 1e-12 * Math.max(Math.abs(expected), 125),
              `${name}: ${mine![row]}, not ${expected}`,
            );
        }
      };
      append(2000);
      for (let round = 0; round < 60; round += 1) {
        await Promise.all([same(1, all), same(1, few), same(10, few)]);
        if (round % 20 === 7) append(300);
        if (round % 20 === 9) table.forgetFeatures();
      }
      assert.ok(table.stats().liveBytes > 0);
      const reading = readColumns(table, { tail: 1, features: all });
      table.clear();
      next = 0;
      await reading;
      assert.equal(table.stats().liveBytes, 0);
      append(3);
      await same(1, all);
    }
  });

  it('follows each row with live features', async () => {
    const table = open({ capacity: 50, live: { windows: [3], lags: [2] } });
    for (let row = 1; row <= 120; row += 1) table.append(1, [numbers('x', [row]), numbers('y', [row % 2 === 0 ? null : 1])]);
    assert.deepEqual([...table.latest(['y', 'x', 'absent'])].slice(0, 9), [0, 120, 0, 1, 0, 1, 1, 0, 119]);
  });

  it('fits a model to the rows and features that it has, of the moment of the call', async () => {
    const table = open({ capacity: 500, live: { windows: [3], lags: [2] } });
    const [keys, rows] = [['y', 'x', 'absent'], [] as number[][]];
    const append = (row: number): void => table.append(1, [numbers('x', [row % 17]), numbers('y', [row % 5 === 0 ? null : row % 7])]);
    for (let row = 1; row <= 120; row += 1) {
      append(row);
      rows.push([...table.latest(keys)]);
    }
    const options = { ...FIT, columns: 18, scored: true, saved: true };
    const fit = table.openFit(options, keys, { windows: [3], lags: [2] });
    for (let row = 121; row <= 200; row += 1) append(row);
    const { model, raw, state } = await fit.run();
    const known = await fitAnomaly(options, Float64Array.from(rows.flat()));
    assert.deepEqual([raw, state], [known.raw, known.state]);
    assert.deepEqual(state, await model.state());
  });

  it('refuses a fit of another width, and rows beside its own', () => {
    const table = open();
    table.append(4, [numbers('x', [1, 2, 3, 4])]);
    const fit = (change: object, columns: string[] = ['x']): NativeAnomalyFit =>
      table.openFit({ ...FIT, columns: 1, ...change }, columns, {});
    assert.throws(() => fit({ columns: 2 }), failure('invalid', /^columns is 2; .+ have 1 numbers/));
    assert.throws(() => fit({}, ['x', 'y']), failure('invalid', /^columns is 1; .+ have 2 numbers/));
    assert.throws(() => fit({ backend: 'x' }), failure('invalid', /backend/));
    assert.throws(() => fit({}).add(Float64Array.of(1)), failure('invalid', /rows of a table/));
  });

  it('makes the rows of a fit in the background, and not after it was cancelled', { skip: process.platform !== 'linux' }, async () => {
    const table = open({ capacity: 200_000 });
    for (let first = 0; first < 200_000; first += 10_000) {
      const values = Array.from({ length: 10_000 }, (_, at) => first + at);
      table.append(10_000, [numbers('x', values)]);
    }
    for (const background of [false, true]) {
      const fit = (): NativeAnomalyFit => table.openFit({ ...FIT, columns: 13, background }, ['x'], { windows: [10, 50, 100] });
      assert.equal(await idledDuring(() => fit().run()), background);
      const stopped = fit();
      const running = stopped.run();
      stopped.cancel();
      await assert.rejects(running, failure('unavailable', /cancelled/));
    }
  });

  it('refuses wrong arguments with the reason', async () => {
    const table = open();
    const loose = table as unknown as Record<string, (...values: unknown[]) => unknown>;
    const cases: [() => unknown, string, RegExp][] = [
      [() => open({ capacity: 0 }), 'invalid', /capacity must be an integer from 1 to 1000000/],
      [() => open({ capacity: Number.NaN }), 'invalid', /capacity/],
      [() => open({ capacity: 10, live: { windows: [0] } }), 'invalid', /windows\[0\] must be an integer from 1 to 100000/],
      [() => loose.append!(1, [{ name: 'x', kind: 'f64', numbers: new Float32Array(1) }]), 'invalid', /array of another type/],
      [() => loose.append!(1, [{ name: 'x', kind: 'f64' }]), 'invalid', /has 0 values for 1 rows/],
      [
        () => loose.append!(2, [{ name: 'x', kind: 'string', offsets: Int32Array.of(0, 5, 1), bytes: new Uint8Array(1) }]),
        'invalid',
        /offsets/,
      ],
      [() => loose.append!(9, [{ name: 'x', kind: 'f64', numbers: new Float64Array(9), valid: new Uint8Array(1) }]), 'invalid', /validity/],
      [() => loose.append!(1, [{ name: 'x', kind: 'date', numbers: new Float64Array(1) }]), 'invalid', /no kind of column 'date'/],
      [() => loose.append!(1, [numbers('x', [Number.NaN])]), 'invalid', /Column 'x' holds -?nan in row 0/],
      [() => loose.append!(-1, []), 'invalid', /rows/],
      [() => loose.append!(2 ** 31, []), 'invalid', /rows/],
      [() => loose.append!(16_384, [numbers('x', []), numbers('y', [])]), 'too_large', /16384 cells/],
      [() => loose.latest!(['x']), 'invalid', /no live features/],
    ];
    for (const [call, kind, text] of cases) assert.throws(call, failure(kind, text));
    const rejected: [() => Promise<unknown>, string, RegExp][] = [
      [() => readColumns(table, { features: { windows: Array(65).fill(2) } }), 'invalid', /windows has 65 items/],
      [
        () => readColumns(table, { features: { statistics: ['mode' as 'mean'] } }),
        'invalid',
        /no rolling statistic 'mode'; there are mean, std/,
      ],
      [() => readColumns(table, { tail: -1 }), 'invalid', /tail/],
      [() => readColumns(table, { features: { lags: [1e9] } }), 'invalid', /lags\[0\]/],
    ];
    for (const [call, kind, text] of rejected) await assert.rejects(call, failure(kind, text));
    assert.equal(table.stats().next, 0);
  });

  it('does not look at an array whose memory went elsewhere', () => {
    const gone = Float64Array.of(1);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    assert.throws(() => open().append(1, [{ name: 'x', kind: 'f64', numbers: gone }]), failure('invalid', /has 0 values/));
  });
});
