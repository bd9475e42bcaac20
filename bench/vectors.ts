import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skip } from './lacking.js';
import { ask, median, part, type Row, table } from './measure.js';
import { QUICK, sizeOf } from './size.js';
import { CONTESTANTS } from './vector-contestants.js';
import type { VectorBuild, VectorOrder, VectorRate, VectorTask } from './vector-run.js';
import { DIMENSIONS } from './vector-space.js';

/** Rows; `BENCH_VECTORS=100000` is the full run. */
const ROWS = sizeOf('BENCH_VECTORS', 10_000, 2_000);
/** Contestants; `BENCH_VECTOR_PEERS=hnswlib-node,Chroma` takes these alone. */
const NAMES = ['Quern', ...(process.env.BENCH_VECTOR_PEERS?.split(',') ?? (QUICK ? ['usearch'] : Object.keys(CONTESTANTS).slice(1)))];
const QUERIES = 400;
const EFFORTS = [10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256, 384];
const RECALLS = [0.95, 0.99] as const;
const AT_ONCE = [1, 2] as const;
/** How often each contestant is asked in turn. */
const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 2);
const TURN_MS = 400;
const LEAST = 20;
/** A peer that takes longer to take the rows is left out. */
const BUILD_LIMIT_MS = 360_000;

/** What one contestant is asked for, `rates` by what is measured. */
interface Entry {
  name: string;
  child: ChildProcess;
  built: VectorBuild;
  efforts: Map<number, number>;
  rates: Map<string, number[]>;
  filteredRecall: number;
}

const order = <Result>(child: ChildProcess, message: VectorOrder): Promise<Result> => ask<Result>(child, message);

function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => setTimeout(() => reject(new Error(`not built within ${limitMs / 1000} s`)), limitMs).unref()),
  ]);
}

async function make(folder: string): Promise<VectorTask> {
  const child = part('vector-run');
  const task = await order<VectorTask>(child, { make: { rows: ROWS, queries: QUERIES, folder } });
  child.kill('SIGTERM');
  return task;
}

async function enter(name: string, task: VectorTask): Promise<Entry | Error> {
  const child = part('vector-run');
  try {
    const built = await within(BUILD_LIMIT_MS, order<VectorBuild>(child, { build: name, task }));
    return { name, child, built, efforts: new Map(), rates: new Map(), filteredRecall: 1 };
  } catch (error) {
    // A contestant may have a server, which ends with it.
    child.kill('SIGTERM');
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The least effort of each that finds enough: more is only slower. */
async function findEfforts(entries: Entry[]): Promise<void> {
  for (const effort of EFFORTS)
    for (const { child, efforts } of entries) {
      if (efforts.size === RECALLS.length) continue;
      const { recall } = await order<VectorRate>(child, { ask: { effort, filtered: false, atOnce: 1, least: QUERIES, leastMs: 0 } });
      for (const least of RECALLS) if (recall >= least && !efforts.has(least)) efforts.set(least, effort);
    }
}

async function round(entries: Entry[]): Promise<void> {
  const turn = async (entry: Entry, what: string, effort: number, filtered: boolean, atOnce: number): Promise<void> => {
    const rate = await order<VectorRate>(entry.child, { ask: { effort, filtered, atOnce, least: LEAST, leastMs: TURN_MS } });
    entry.rates.set(what, [...(entry.rates.get(what) ?? []), rate.perSecond]);
    if (filtered) entry.filteredRecall = Math.min(entry.filteredRecall, rate.recall);
  };
  for (const recall of RECALLS)
    for (const atOnce of AT_ONCE)
      for (const entry of entries) {
        const effort = entry.efforts.get(recall);
        if (effort !== undefined) await turn(entry, `${recall} ${atOnce}`, effort, false, atOnce);
      }
  for (const entry of entries) await turn(entry, 'filtered', 64, true, 1);
}

function rowsAgainst(ours: Entry, theirs: Entry): Row[] {
  const row = (what: string, of: (entry: Entry) => number | undefined, goal = '', digits = 0): Row => {
    const [mine, other] = [of(ours), of(theirs)];
    return {
      what: `${what}, against ${theirs.name}`,
      ours: mine?.toFixed(digits) ?? 'not reached',
      peer: other?.toFixed(digits) ?? 'not reached',
      ratio: mine !== undefined && other !== undefined ? `${(mine / other).toFixed(2)}x` : '',
      goal,
    };
  };
  const rate = (what: string) => (entry: Entry) => (entry.rates.has(what) ? median(entry.rates.get(what)!) : undefined);
  const goal = theirs.name === 'Chroma' ? '>= 5x' : '>= 1x';
  return [
    ...RECALLS.flatMap((recall) => [
      ...AT_ONCE.map((atOnce) =>
        row(`queries/s at recall@10 >= ${recall}, ${atOnce === 1 ? 'one' : 'two'} at a time`, rate(`${recall} ${atOnce}`), goal),
      ),
      row(`effort for recall@10 >= ${recall}`, (entry) => entry.efforts.get(recall)),
    ]),
    row('build, s', (entry) => entry.built.buildMs / 1000, '', 1),
    row('memory, MB', (entry) => entry.built.memoryMb),
    row('queries/s, 1 % of the rows allowed', rate('filtered')),
    row('recall@10, 1 % of the rows allowed', (entry) => entry.filteredRecall, '1.0', 3),
  ];
}

/** Measures the vector index against others, each in its own process, in turn, and prints the table of medians. */
export async function benchVectors(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quern-bench-vectors-'));
  const entries: Entry[] = [];
  const began = performance.now();
  const note = (text: string): boolean => process.stderr.write(`vectors, ${((performance.now() - began) / 1000).toFixed(0)} s: ${text}\n`);
  try {
    const task = await make(folder);
    for (const name of NAMES) {
      note(`${name} takes ${ROWS} rows`);
      const entry = await enter(name, task);
      if (entry instanceof Error) skip(`vectors against ${name}`, entry);
      else entries.push(entry);
    }
    note('looking for the efforts');
    await findEfforts(entries);
    for (let done = 0; done < ROUNDS; done += 1) {
      note(`round ${done + 1} of ${ROUNDS}`);
      await round(entries);
    }
  } finally {
    for (const { child } of entries) child.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
  const [ours, ...peers] = entries;
  if (ours?.name !== 'Quern') throw new Error('our own index could not be measured');
  table(
    `Vectors: ${ROWS} x ${DIMENSIONS}, cosine, 16 links, 128 candidates while building, ${QUERIES} queries, ${ROUNDS} rounds in turn; Chroma over its HTTP, the others in process`,
    peers.flatMap((theirs) => rowsAgainst(ours, theirs)),
  );
}
