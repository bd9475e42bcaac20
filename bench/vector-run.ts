// One contestant of the vector benchmark, in a process of its own, so that its memory can be told.
import { CONTESTANTS, quernIndex } from './vector-contestants.js';
import { vectorAt, vectorsOf } from './vector-space.js';

const EFFORTS = [10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768];
const SEED = 2;
const QUERY_SEED = 3;
/** Each effort is measured at least so long. */
const LEAST_MS = 400;

/** What a contestant is told; the truth is found by our own exact search, `truths[0]` of all rows and `truths[1]` filtered. */
export interface VectorPlan {
  name: string;
  rows: number;
  queries: number;
  truths?: number[][][];
}

/** A point of the curve of one contestant. */
export interface VectorPoint {
  effort: number;
  recall: number;
  perSecond: number;
  perSecondOfTwo: number;
}

/** What was measured of one contestant. */
export interface VectorResult {
  buildMs: number;
  memoryMb: number;
  points: VectorPoint[];
  filtered: { recall: number; perSecond: number };
  truths?: number[][][];
}

async function measure({ name, rows, queries, truths }: VectorPlan): Promise<VectorResult> {
  const all = vectorsOf(rows, SEED);
  const questions = vectorsOf(queries, QUERY_SEED);
  const asked = Array.from({ length: queries }, (_, at) => vectorAt(questions, at));
  if (truths === undefined) {
    const exact = quernIndex();
    await exact.build(all);
    const truth = (filtered: boolean): Promise<number[][]> => Promise.all(asked.map((query) => exact.exact(query, filtered)));
    return { buildMs: 0, memoryMb: 0, points: [], filtered: { recall: 1, perSecond: 0 }, truths: [await truth(false), await truth(true)] };
  }
  const before = process.memoryUsage().rss;
  const contestant = await CONTESTANTS[name]!();
  const started = performance.now();
  await contestant.build(all);
  const buildMs = performance.now() - started;
  global.gc?.();
  const memoryMb = contestant.memoryMb?.() ?? (process.memoryUsage().rss - before) / 2 ** 20;

  /** Recall, and queries per second with `atOnce` under way. */
  const run = async (effort: number, filtered: boolean, atOnce: number): Promise<{ recall: number; perSecond: number }> => {
    await contestant.prepare?.(effort);
    let [done, found, next] = [0, 0, 0];
    const begun = performance.now();
    const worker = async (): Promise<void> => {
      while (next < queries || performance.now() - begun < LEAST_MS) {
        const at = next++ % queries;
        const ids = new Set(await contestant.search(asked[at]!, effort, filtered));
        const truth = truths[filtered ? 1 : 0]![at]!;
        found += truth.filter((id) => ids.has(id)).length / truth.length;
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return { recall: found / done, perSecond: (done * 1000) / (performance.now() - begun) };
  };
  const points: VectorPoint[] = [];
  for (const effort of EFFORTS) {
    const { recall, perSecond } = await run(effort, false, 1);
    points.push({ effort, recall, perSecond, perSecondOfTwo: (await run(effort, false, 2)).perSecond });
    if (recall >= 0.995) break;
  }
  return { buildMs, memoryMb, points, filtered: await run(64, true, 1) };
}

// A server of a contestant ends with this process.
for (const event of ['SIGTERM', 'disconnect'] as const) process.on(event, () => process.exit(0));
process.on('message', (plan: VectorPlan) => {
  measure(plan).then(
    (result) => process.send!({ result }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
