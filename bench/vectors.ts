import { ask, part, type Row, table } from './measure.js';
import { CONTESTANTS } from './vector-contestants.js';
import type { VectorPlan, VectorPoint, VectorResult } from './vector-run.js';
import { DIMENSIONS } from './vector-space.js';

/** Rows; `BENCH_VECTORS=100000` is the full run. */
const ROWS = Number(process.env.BENCH_VECTORS ?? 10_000);
const QUERIES = 200;
const RECALLS = [0.95, 0.99];

async function measured(plan: VectorPlan): Promise<VectorResult> {
  const child = part('vector-run');
  try {
    return await ask<VectorResult>(child, plan);
  } finally {
    // It may have a server, which goes with it.
    child.kill('SIGTERM');
  }
}

/** The fastest point of a curve that finds enough. */
function fastest({ points }: VectorResult, recall: number, rate: (point: VectorPoint) => number): number | undefined {
  const enough = points.filter((point) => point.recall >= recall).map(rate);
  return enough.length === 0 ? undefined : Math.max(...enough);
}

function rowsAgainst(name: string, ours: VectorResult, theirs: VectorResult): Row[] {
  const row = (what: string, mine: number | undefined, other: number | undefined, goal = '', digits = 0): Row => ({
    what: `${what}, against ${name}`,
    ours: mine?.toFixed(digits) ?? 'not reached',
    peer: other?.toFixed(digits) ?? 'not reached',
    ratio: mine !== undefined && other !== undefined ? `${(mine / other).toFixed(2)}x` : '',
    goal,
  });
  const goal = name === 'Chroma' ? '>= 5x' : '';
  return [
    ...RECALLS.flatMap((recall) => [
      row(
        `queries/s at recall@10 >= ${recall}, one at a time`,
        ...both((result) => fastest(result, recall, (point) => point.perSecond)),
        goal,
      ),
      row(
        `queries/s at recall@10 >= ${recall}, two at a time`,
        ...both((result) => fastest(result, recall, (point) => point.perSecondOfTwo)),
        goal,
      ),
    ]),
    row('build, s', ours.buildMs / 1000, theirs.buildMs / 1000, '', 1),
    row('memory, MB', ours.memoryMb, theirs.memoryMb),
    row('queries/s, 1 % of the rows allowed', ours.filtered.perSecond, theirs.filtered.perSecond),
    row('recall@10, 1 % of the rows allowed', ours.filtered.recall, theirs.filtered.recall, '1.0', 3),
  ];
  function both(of: (result: VectorResult) => number | undefined): [number | undefined, number | undefined] {
    return [of(ours), of(theirs)];
  }
}

/** Measures the vector index against others, each in its own process, and prints the table. */
export async function benchVectors(): Promise<void> {
  const plan = { rows: ROWS, queries: QUERIES };
  const { truths } = await measured({ ...plan, name: 'Quern' });
  const [first, ...peers] = await inTurn(Object.keys(CONTESTANTS), (name) => measured({ ...plan, name, truths: truths! }));
  const ours = first![1];
  if (ours instanceof Error) throw ours;
  const rows = peers.flatMap(([name, result]): Row[] =>
    result instanceof Error
      ? [{ what: `${name} could not be had`, ours: '', peer: result.message.slice(0, 120), ratio: '', goal: '' }]
      : rowsAgainst(name, ours, result),
  );
  table(
    `Vectors: ${ROWS} x ${DIMENSIONS}, cosine, 16 links, 128 candidates while building, ${QUERIES} queries; Chroma over its HTTP, the others in process`,
    rows,
  );
}

async function inTurn(names: string[], run: (name: string) => Promise<VectorResult>): Promise<[string, VectorResult | Error][]> {
  const results: [string, VectorResult | Error][] = [];
  for (const name of names) results.push([name, await run(name).catch((error: Error) => error)]);
  return results;
}
