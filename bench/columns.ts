import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ColumnFeatures } from '../native/contract.js';
import { loadCore } from '../native/core.js';
import { Buffers } from '../runtime/ml/buffers/buffers.js';
import { Streams } from '../runtime/ml/streams/streams.js';
import { appendTo } from '../runtime/ml/tables/append.js';
import { cellsOf } from '../runtime/ml/tables/cells.js';
import { openStore, type Store } from '../runtime/store/store.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { median, quantile, ROOT, type Row, table } from './measure.js';

const ROWS = 100_000;
const WINDOW = 1_000;
const APPENDS = 2_000;
const AT_ONCE = 64;
/** Requests to a detector, of one sample each or of many. */
const REQUESTS = 2_000;
/** Samples of a request, and after how many samples the detector learns again: 100 is the default, at 20 a training runs nearly all the time. */
const STREAMS = [
  [1, 100],
  [1, 20],
  [100, 2_000],
] as const;
const ROUNDS = 3;
const FEATURES: ColumnFeatures = { windows: [5, 10, 20], lags: [1, 2, 3] };

interface Polars {
  version: string;
  batchMs: number;
  appendMs: number;
  featuresMs: number;
}

const row = (index: number): Record<string, number> => ({ a: Math.sin(index * 7.1), b: Math.cos(index * 3.3), c: index % 97 });
const rows = (count: number): Record<string, number>[] => Array.from({ length: count }, (_, index) => row(index));

/** Polars on the same work, or why it is not there. */
function polars(): Polars | string {
  const program = process.env.QUERN_BENCH_PYTHON;
  if (!program) return 'QUERN_BENCH_PYTHON names no Python with polars';
  try {
    const script = [join(ROOT, 'bench/columns-polars.py'), String(ROWS), String(WINDOW), String(APPENDS)];
    return JSON.parse(execFileSync(program, script, { encoding: 'utf8' })) as Polars;
  } catch (error) {
    return String(error).split('\n')[0]!;
  }
}

async function batchMs(): Promise<number> {
  const native = loadCore().openColumns({ capacity: ROWS });
  await appendTo(
    native,
    await cellsOf(
      rows(ROWS).map(({ a, b }) => ({ a, b })),
      new Map(),
    ),
  );
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const start = performance.now();
    await native.read({ features: FEATURES });
    times.push(performance.now() - start);
  }
  return median(times);
}

/** One row after the other into a full table, from plain objects, in memory alone. */
async function appendMs(features: boolean): Promise<number> {
  const native = loadCore().openColumns({ capacity: WINDOW });
  await appendTo(native, await cellsOf(rows(WINDOW), new Map()));
  const kinds = new Map(native.stats().columns.map(({ name, kind }) => [name, kind]));
  const start = performance.now();
  for (let index = 0; index < APPENDS; index += 1) {
    const cells = await cellsOf([row(WINDOW + index)], kinds);
    native.append(1, cells.columns);
    if (features) await native.read({ tail: 1, features: FEATURES });
  }
  return performance.now() - start;
}

/** Appends per second that are on the disk when they are answered. */
async function durable(store: Store, atOnce: number): Promise<number> {
  const buffers = new Buffers(store);
  const name = `durable-${atOnce}`;
  await buffers.create(name, WINDOW);
  let index = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (index < APPENDS) {
        index += 1;
        await buffers.append(name, [row(index)]);
      }
    }),
  );
  const rate = (APPENDS * 1000) / (performance.now() - start);
  await buffers.close();
  return rate;
}

interface Scored {
  perSecond: number;
  p50: number;
  p99: number;
  trainings: number;
}

/** Samples that are scored and on the disk when they are answered, `perRequest` of them a request. */
async function scored(store: Store, retrainInterval: number, perRequest: number): Promise<Scored> {
  const streams = new Streams(store);
  const name = 'stream';
  const settings = {
    backend: 'ecod',
    minSamples: 500,
    retrainInterval,
    windowSize: WINDOW,
    contamination: 0.1,
    normalization: 'standardization',
    threshold: null,
    rollingWindows: [5, 20],
    lags: [1],
    schema: null,
  } as const;
  const submit = (from: number, count: number) =>
    streams.submit(
      name,
      { ...settings, rollingWindows: [5, 20], lags: [1] },
      Array.from({ length: count }, (_, index) => row(from + index)),
    );
  await submit(0, 500);
  const times: number[] = [];
  let version = 0;
  for (let request = 0; request < REQUESTS; request += 1) {
    const start = performance.now();
    ({ version } = await submit(500 + request * perRequest, perRequest));
    times.push(performance.now() - start);
  }
  await streams.remove(name);
  await streams.close();
  const all = times.reduce((sum, time) => sum + time, 0);
  return { perSecond: (REQUESTS * perRequest * 1000) / all, p50: median(times), p99: quantile(times, 0.99), trainings: version - 1 };
}

/** Without and with retraining, in turn; the median of each figure. */
async function retrained(store: Store, perRequest: number, every: number): Promise<[calm: Scored, busy: Scored]> {
  const all: [Scored[], Scored[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [at, interval] of [10_000_000, every].entries()) all[at]!.push(await scored(store, interval, perRequest));
  const middle = (runs: readonly Scored[]): Scored => {
    const of = (key: keyof Scored): number => median(runs.map((run) => run[key]));
    return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), trainings: of('trainings') };
  };
  return [middle(all[0]), middle(all[1])];
}

/** Measures data buffers against Polars, and streaming detectors with and without retraining, and prints the tables. */
export async function benchColumns(): Promise<void> {
  // As the daemon does.
  loadCore().takeShortTurns();
  const peer = polars();
  const against = (what: string, mine: number, theirs: number | undefined, count: number, goal = ''): Row => ({
    what,
    ours: ((count * 1000) / mine).toFixed(0),
    peer: theirs === undefined ? String(peer) : ((count * 1000) / theirs).toFixed(0),
    ratio: theirs === undefined ? '' : `${(theirs / mine).toFixed(1)}x`,
    goal,
  });
  const known = typeof peer === 'string' ? undefined : peer;
  const [batch, plain, withFeatures] = [await batchMs(), await appendMs(false), await appendMs(true)];
  const dataDir = emptyDataDir();
  const store = await openStore(dataDir);
  const one = (what: string, ours: number): Row => ({ what, ours: ours.toFixed(0), peer: '', ratio: '', goal: '' });
  table(`Data buffers against Polars ${known?.version ?? ''}: 3 columns, window ${WINDOW}, windows 5, 10 and 20, lags 1 to 3`, [
    against(`rows/s with features, ${ROWS} rows of 2 columns at once`, batch, known?.batchMs, ROWS),
    against('single-row appends/s, in memory', plain, known?.appendMs, APPENDS),
    against('single-row appends/s, each with the features of its row, in memory', withFeatures, known?.featuresMs, APPENDS, '>= 10x'),
    one('single-row appends/s on the disk, one after the other', await durable(store, 1)),
    one(`single-row appends/s on the disk, ${AT_ONCE} at a time`, await durable(store, AT_ONCE)),
  ]);
  const rest: Row[] = [];
  for (const [perRequest, every] of STREAMS) {
    const [calm, busy] = await retrained(store, perRequest, every);
    const what = `${perRequest} a request, ${busy.trainings} retrainings beside ${REQUESTS} requests (peer column: none)`;
    const row = (of: string, key: 'perSecond' | 'p50' | 'p99', digits: number): Row => {
      return {
        what: `${what}: ${of}`,
        ours: busy[key].toFixed(digits),
        peer: calm[key].toFixed(digits),
        ratio: `${(busy[key] / calm[key]).toFixed(2)}x`,
        goal: '',
      };
    };
    rest.push(row('scores/s', 'perSecond', 0), row('ms a request, p50', 'p50', 2), row('ms a request, p99', 'p99', 2));
  }
  table(`Streaming detectors: ECOD over 3 keys, two windows and a lag, window ${WINDOW}, on the disk when answered`, rest);
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
}
