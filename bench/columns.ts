import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readColumns } from '../native/columns.js';
import type { ColumnFeatures } from '../native/contract.js';
import { loadCore } from '../native/loader.js';
import { Buffers } from '../runtime/ml/buffers/buffers.js';
import { appendTo, cellsOf } from '../runtime/ml/cells.js';
import { openStore, type Store } from '../runtime/store/store.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { unlessLacking } from './lacking.js';
import { median, ROOT, type Row, table } from './measure.js';
import { benchPython } from './peers.js';

const ROWS = 100_000;
const WINDOW = 1_000;
const APPENDS = 2_000;
const AT_ONCE = 64;
const FEATURES: ColumnFeatures = { windows: [5, 10, 20], lags: [1, 2, 3] };

interface Polars {
  version: string;
  batchMs: number;
  appendMs: number;
  featuresMs: number;
}

const row = (index: number): Record<string, number> => ({ a: Math.sin(index * 7.1), b: Math.cos(index * 3.3), c: index % 97 });
const rows = (count: number): Record<string, number>[] => Array.from({ length: count }, (_, index) => row(index));

/** The same work done by Polars. */
function polars(): Polars {
  const script = [join(ROOT, 'bench/columns-polars.py'), String(ROWS), String(WINDOW), String(APPENDS)];
  return JSON.parse(execFileSync(benchPython(), script, { encoding: 'utf8' })) as Polars;
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
    await readColumns(native, { features: FEATURES });
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
    if (features) await readColumns(native, { tail: 1, features: FEATURES });
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

/** Measures data buffers against Polars, and prints the table. */
export async function benchColumns(): Promise<void> {
  // The daemon asks for short turns too.
  loadCore().takeShortTurns();
  const known = await unlessLacking('columns against Polars', polars);
  const against = (what: string, mine: number, theirs: number | undefined, count: number, goal = ''): Row => ({
    what,
    ours: ((count * 1000) / mine).toFixed(0),
    peer: theirs === undefined ? '' : ((count * 1000) / theirs).toFixed(0),
    ratio: theirs === undefined ? '' : `${(theirs / mine).toFixed(1)}x`,
    goal,
  });
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
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
}
