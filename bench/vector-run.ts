// One contestant of the vector benchmark, in a process of its own, so that its memory can be told. It does what it is told, in turn.
import { readFileSync, writeFileSync } from 'node:fs';
import { CONTESTANTS, type Contestant, nearest } from './vector-contestants.js';
import { DIMENSIONS, vectorAt, vectorsOf } from './vector-space.js';

const SEED = 2;
const QUERY_SEED = 3;

/** The rows and queries of a run, in files, and the true neighbours of the queries: of all rows, and of those that the filter allows. */
export interface VectorTask {
  rows: string;
  queries: string;
  truths: [number[][], number[][]];
}

/** What a process may be told. */
export type VectorOrder =
  | { make: { rows: number; queries: number; folder: string } }
  | { build: string; task: VectorTask }
  | { ask: VectorQuestion };

/** How to ask: at least so many queries, and at least for so long. */
export interface VectorQuestion {
  effort: number;
  filtered: boolean;
  atOnce: number;
  least: number;
  leastMs: number;
}

/** How long a contestant took to take the rows, and how much memory they take. */
export interface VectorBuild {
  buildMs: number;
  memoryMb: number;
}

/** Queries answered for a while. */
export interface VectorRate {
  recall: number;
  perSecond: number;
}

const floats = (file: string): Float32Array => {
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
};

const split = (all: Float32Array): Float32Array[] => Array.from({ length: all.length / DIMENSIONS }, (_, at) => vectorAt(all, at));

async function make({ rows, queries, folder }: { rows: number; queries: number; folder: string }): Promise<VectorTask> {
  const all = vectorsOf(rows, SEED);
  const asked = vectorsOf(queries, QUERY_SEED);
  const task = { rows: `${folder}/rows`, queries: `${folder}/queries` };
  writeFileSync(task.rows, all);
  writeFileSync(task.queries, asked);
  return { ...task, truths: await nearest(all, split(asked)) };
}

let contestant: Contestant;
let queries: Float32Array[];
let truths: [number[][], number[][]];

async function build(name: string, task: VectorTask): Promise<VectorBuild> {
  const rows = floats(task.rows);
  queries = split(floats(task.queries));
  truths = task.truths;
  const before = process.memoryUsage().rss;
  contestant = await CONTESTANTS[name]!();
  const started = performance.now();
  await contestant.build(rows);
  return {
    buildMs: performance.now() - started,
    memoryMb: contestant.memoryMb?.() ?? (process.memoryUsage().rss - before) / 2 ** 20,
  };
}

let next = 0;

/** Recall, and queries per second with `atOnce` under way. */
async function rate({ effort, filtered, atOnce, least, leastMs }: VectorQuestion): Promise<VectorRate> {
  await contestant.prepare?.(effort);
  const truth = truths[filtered ? 1 : 0];
  let [begunQueries, done, found] = [0, 0, 0];
  const begun = performance.now();
  const worker = async (): Promise<void> => {
    while (begunQueries < least || performance.now() - begun < leastMs) {
      begunQueries += 1;
      const at = next++ % queries.length;
      const ids = await contestant.search(queries[at]!, effort, filtered);
      found += truth[at]!.filter((id) => ids.includes(id)).length / truth[at]!.length;
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { recall: found / done, perSecond: (done * 1000) / (performance.now() - begun) };
}

async function obey(order: VectorOrder): Promise<VectorTask | VectorBuild | VectorRate> {
  if ('make' in order) return make(order.make);
  if ('build' in order) return build(order.build, order.task);
  return rate(order.ask);
}

// A server of a contestant ends with this process.
for (const event of ['SIGTERM', 'disconnect'] as const) process.on(event, () => process.exit(0));
process.on('message', (order: VectorOrder) => {
  obey(order).then(
    (result) => process.send!({ result }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
