import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { MemoryStore, NewMemory } from '../runtime/memory/contract.js';
import { longestHold } from '../test/support/loop-holds.js';
import { ALL_KINDS, openMemoryStage } from '../test/support/memory/store-stage.js';
import { Lacking, unlessLacking } from './lacking.js';
import { ROOT, type Row, table } from './measure.js';
import { QUICK, sizeOf } from './size.js';

/** Records of the stores; `BENCH_MEMORIES` says others, separated by commas. */
const SIZES = (process.env.BENCH_MEMORIES ?? (QUICK ? '1000,10000' : '1000,100000,1000000')).split(',').map(Number);
const ROUNDS = sizeOf('BENCH_MEMORY_ROUNDS', 200, 30);
const BATCH = 256;
const NOW_MS = 1_800_000_000_000;
const WORDS = ['river', 'stone', 'bread', 'light', 'winter', 'garden', 'engine', 'letter', 'window', 'copper'];
const PYTHON = process.env.QUERN_BENCH_PYTHON ?? 'python3';

/** What is done how often in a second of processor time, by its name. */
type Rates = Record<string, number>;

/** The records, the same as bench/memory-sqlite.py makes. */
function recordOf(i: number, records: number): NewMemory {
  const words = Array.from({ length: 8 }, (_none, at) => WORDS[Math.floor(i / 10 ** at) % 10]).join(' ');
  return {
    type: 'telemetry',
    data: (i * 31) % 1_000,
    text: `${words} ${i}`,
    timeMs: NOW_MS - (records - i) * 2_000,
    series: `series${i % 10}`,
    who: { user: `user${i % 1_000}`, session: `session${i % 5_000}` },
    place: { lat: ((i * 7_919) % 179_000) / 1_000 - 89.5, lon: ((i * 104_729) % 359_000) / 1_000 - 179.5 },
  };
}

/** Processor time of this process in seconds: what else runs on the machine does not lengthen it. */
const processorS = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** How often something is done in a second of processor time. */
async function rate(rounds: number, work: (i: number) => Promise<unknown>): Promise<number> {
  const began = processorS();
  for (let i = 0; i < rounds; i += 1) await work(i);
  return rounds / (processorS() - began);
}

async function fill(store: MemoryStore, records: number): Promise<number> {
  const batches = Math.ceil(records / BATCH);
  const perSecond = await rate(batches, async (batch) => {
    const first = batch * BATCH;
    await store.write({ add: Array.from({ length: Math.min(BATCH, records - first) }, (_none, at) => recordOf(first + at, records)) });
  });
  return (perSecond * records) / batches;
}

async function link(store: MemoryStore, records: number): Promise<void> {
  const edges = Math.max(100, Math.floor(records / 10));
  const nodes = Math.floor(edges / 4);
  for (let first = 0; first < edges; first += BATCH) {
    const add = Array.from({ length: Math.min(BATCH, edges - first) }, (_none, at): NewMemory => {
      const i = first + at;
      return { type: 'edge', data: null, edge: { from: `n${i % nodes}`, to: `n${(i * 7) % nodes}`, relation: 'r', weight: 1 } };
    });
    await store.write({ add });
  }
}

/** How often each thing is done with a store of so many records, and what of it held the event loop longest, in milliseconds. */
async function ours(records: number): Promise<{ rates: Rates; heldMs: Rates }> {
  const keepsAll = { ...ALL_KINDS, working_memory: { enabled: true, ttl_seconds: 10_000_000, max_records: 100_000_000 } };
  const stage = await openMemoryStage([keepsAll], undefined, NOW_MS);
  const store = await stage.main();
  const rates: Rates = {};
  const heldMs: Rates = {};
  const measure = async (name: string, work: () => Promise<number | undefined>): Promise<void> => {
    heldMs[name] =
      (await longestHold(async () => {
        const perSecond = await work();
        if (perSecond !== undefined) rates[name] = perSecond;
      })) ?? Number.NaN;
  };
  const at = (i: number) => ({ lat: ((i * 13) % 120) - 60, lon: ((i * 29) % 340) - 170 });
  await measure('add', () => fill(store, records));
  await link(store, records);
  await measure('newest', () =>
    rate(ROUNDS, (i) => store.working!.newest({ session: `session${(i * 37) % Math.min(5_000, records)}`, limit: 20 })),
  );
  await measure('range', () =>
    rate(ROUNDS, (i) => store.series!.range(`series${i % 10}`, { fromMs: NOW_MS - records * 1_000, limit: 100 })),
  );
  await measure('buckets', () =>
    rate(ROUNDS, (i) => store.series!.downsample(`series${i % 10}`, 60_000, undefined, { fromMs: NOW_MS - 2_000 * 10_000 })),
  );
  await measure('making the R-tree', () => rate(1, () => store.places!.nearest(at(0), { limit: 1 })));
  await measure('within', () => rate(ROUNDS, (i) => store.places!.within(at(i), 20_000, { limit: 100 })));
  await measure('nearest', () => rate(ROUNDS, (i) => store.places!.nearest(at(i), { limit: 10 })));
  await measure('neighbours', () => rate(ROUNDS, (i) => store.graph!.neighbourhood(`n${i % 20}`, 2, { limit: 1_000 })));
  await measure('all places, filtered by a tag', () =>
    rate(1, () => store.places!.box({ south: -90, west: -180, north: 90, east: 180 }, { tags: ['none'], limit: 1 })),
  );
  await measure('down-sampling a whole series', () => rate(1, () => store.series!.downsample('series1', 3_600_000, undefined, {})));
  await stage.close();
  return { rates, heldMs };
}

function sqlite(records: number): Rates {
  try {
    const script = join(ROOT, 'bench/memory-sqlite.py');
    return JSON.parse(execFileSync(PYTHON, [script, String(records), String(ROUNDS)], { encoding: 'utf8' })) as Rates;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new Lacking('SQLite of Python', 'install python3, or set QUERN_BENCH_PYTHON to one');
  }
}

/** How the time of one operation grows with the number of records: 0 = not at all, 1 = as they do. */
function exponent(sizes: readonly number[], rates: readonly number[]): string {
  const [first, last] = [0, sizes.length - 1] as const;
  return (Math.log(rates[first]! / rates[last]!) / Math.log(sizes[last]! / sizes[first]!)).toFixed(2);
}

/** Measures adding to and reading from memory stores of several sizes, beside SQLite with R*Tree and FTS5, and prints the table. */
export async function benchMemory(): Promise<void> {
  const all: { records: number; rates: Rates; heldMs: Rates; peer: Rates | undefined }[] = [];
  for (const records of SIZES) {
    const peer = await unlessLacking('memory against SQLite', () => sqlite(records));
    all.push({ records, ...(await ours(records)), peer });
  }
  for (const { records, rates, heldMs, peer } of all) {
    const rows = Object.entries(rates).map(([name, perSecond]): Row => {
      const other = peer?.[name];
      return {
        what: `${name}, a second of processor time (held the loop for ${heldMs[name]!.toFixed(0)} ms)`,
        ours: shown(perSecond),
        peer: other === undefined ? '' : shown(other),
        ratio: other === undefined ? '' : `${(perSecond / other).toFixed(2)}x`,
        goal: 'loop held for less than 50 ms',
      };
    });
    table(`Memory of ${records.toLocaleString('en')} records, against SQLite`, rows);
  }
  const names = Object.keys(all[0]!.rates);
  const rows = names.map((name): Row => {
    const grown = (of: (one: (typeof all)[number]) => number | undefined): string =>
      exponent(
        SIZES,
        all.map((one) => of(one) ?? Number.NaN),
      );
    return { what: name, ours: grown(({ rates }) => rates[name]), peer: grown(({ peer }) => peer?.[name]), ratio: '', goal: '' };
  });
  table('Memory: growth of the time of each with the records, as an exponent', rows);
}

const shown = (perSecond: number): string => (perSecond >= 100 ? Math.round(perSecond).toLocaleString('en') : perSecond.toPrecision(3));
