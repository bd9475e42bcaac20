import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadCore } from '../native/loader.js';
import { fitAnomaly } from '../test/support/anomaly/fit.js';
import { unlessLacking } from './lacking.js';
import { median, ROOT, type Row, table } from './measure.js';
import { benchPython } from './peers.js';
import { QUICK, sizeOf } from './size.js';

/** Rows and columns; `BENCH_ANOMALY=1000x10,10000x100` takes these alone. */
const SIZES = (process.env.BENCH_ANOMALY ?? (QUICK ? '1000x10' : '1000x10,10000x10'))
  .split(',')
  .map((size) => size.split('x').map(Number) as [number, number]);
/** Detectors; `BENCH_ANOMALY_BACKENDS=knn,mcd` takes these alone. */
const BACKENDS = process.env.BENCH_ANOMALY_BACKENDS?.split(',') ?? loadCore().anomalyBackends();
const ROUNDS = sizeOf('BENCH_ROUNDS', 3, 1);
/** A contestant whose fit takes longer than this is asked only once. */
const ONCE_MS = 20_000;
/** The peer's longest fit and score; `BENCH_ANOMALY_MINUTES=10` waits longer. */
const PATIENCE_MINUTES = sizeOf('BENCH_ANOMALY_MINUTES', 3, 0.2);
/** Passes over the rows; what they take grows evenly with their number, whose usual value is 100. */
const EPOCHS = 5;

interface Times {
  fitMs: number;
  scoreMs: number;
}

interface Task {
  backend: string;
  columns: number;
  values: Float64Array;
  path: string;
}

/** Three clusters of normal numbers, and one row in twenty anywhere. */
function rowsOf(count: number, columns: number): Float64Array {
  let state = 1;
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const values = new Float64Array(count * columns);
  for (let row = 0; row < count; row += 1)
    for (let k = 0; k < columns; k += 1)
      values[row * columns + k] = row % 20 === 0 ? (uniform() - 0.5) * 20 : normal() + (((row % 3) * (k + 1)) % 4) * 2;
  return values;
}

async function ours({ backend, columns, values }: Task): Promise<Times> {
  const threads = availableParallelism();
  const began = performance.now();
  const { model } = await fitAnomaly(
    { backend, columns, contamination: 0.1, normalization: 'raw', scaled: false, epochs: EPOCHS, threads },
    values,
  );
  const fitted = performance.now();
  const piece = Math.floor(2 ** 19 / columns) * columns;
  for (let from = 0; from < values.length; from += piece) await model.score(values.subarray(from, from + piece));
  return { fitMs: fitted - began, scoreMs: performance.now() - fitted };
}

/** A Python with PyOD, asked a line at a time; one that takes too long is ended, and the next question starts another. */
class Peer {
  readonly #program: string;
  #running: { child: ChildProcess; lines: AsyncIterator<string> } | undefined;

  constructor(program: string) {
    this.#program = program;
    process.on('exit', () => this.end());
  }

  async ask({ backend, columns, path }: Task): Promise<Times | string> {
    this.#running ??= this.#start();
    const { child, lines } = this.#running;
    child.stdin!.write(`${JSON.stringify({ backend, columns, rows: path, epochs: EPOCHS })}\n`);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.end();
    }, PATIENCE_MINUTES * 60_000);
    const { value, done } = await lines.next();
    clearTimeout(timer);
    if (late) return `not finished in ${PATIENCE_MINUTES} min`;
    if (done) return 'the Python ended';
    const answer = JSON.parse(value) as Times & { error?: string };
    return answer.error ?? answer;
  }

  end(): void {
    this.#running?.child.kill('SIGKILL');
    this.#running = undefined;
  }

  #start(): { child: ChildProcess; lines: AsyncIterator<string> } {
    const child = spawn(this.#program, [join(ROOT, 'bench/anomaly-peers.py')], { stdio: ['pipe', 'pipe', 'ignore'] });
    return { child, lines: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() };
  }
}

/** Medians of both in turn; the peer's may be the reason why there are none. */
async function measure(task: Task, peer: Peer | undefined): Promise<[Times, Times | string]> {
  const [mine, theirs]: [Times[], Times[]] = [[], []];
  let missing = 'not here';
  for (let round = 0; round < ROUNDS; round += 1) {
    mine.push(await ours(task));
    const answer = round > 0 && (theirs[0]?.fitMs ?? 0) > ONCE_MS ? undefined : await peer?.ask(task);
    if (typeof answer === 'string') missing = answer;
    else if (answer) theirs.push(answer);
    if (mine[0]!.fitMs > ONCE_MS || (peer && theirs.length === 0)) break;
  }
  const middle = (all: Times[]): Times => ({ fitMs: median(all.map((one) => one.fitMs)), scoreMs: median(all.map((one) => one.scoreMs)) });
  return [middle(mine), theirs.length > 0 ? middle(theirs) : missing];
}

function rowsFor(what: string, mine: Times, theirs: Times | string): Row[] {
  return (['fitMs', 'scoreMs'] as const).map((kind) => ({
    what: `${what}, ${kind === 'fitMs' ? 'fit' : 'score'}, ms`,
    ours: mine[kind].toFixed(1),
    peer: typeof theirs === 'string' ? theirs : theirs[kind].toFixed(1),
    ratio: typeof theirs === 'string' ? '' : `${(theirs[kind] / mine[kind]).toFixed(1)}x`,
    goal: '>= 5x',
  }));
}

/** The power of the number of rows with which time grows, from the least number to the largest that both were measured at. */
function growth(backend: string, all: Map<number, [Times, Times | string]>): Row[] {
  const powers = (which: 0 | 1): [string, string] => {
    const known = [...all].flatMap(([count, times]) => (typeof times[which] === 'string' ? [] : [[count, times[which]] as const]));
    const [least, most] = [known[0], known.at(-1)];
    if (!least || !most || least[0] === most[0]) return ['', ''];
    const power = (kind: keyof Times): string => (Math.log(most[1][kind] / least[1][kind]) / Math.log(most[0] / least[0])).toFixed(2);
    return [`${power('fitMs')}, ${power('scoreMs')}`, `${least[0]} to ${most[0]}`];
  };
  const [[ours, range], [peer, peerRange]] = [powers(0), powers(1)];
  if (ours === '') return [];
  return [
    {
      what: `${backend}, growth of fit and score with the rows, ${range}`,
      ours,
      peer: peer === '' || peerRange === range ? peer : `${peer} (${peerRange})`,
      ratio: '',
      goal: '',
    },
  ];
}

/** Fit and score of every detector against PyOD's, in turn, and how our time grows with the rows. */
export async function benchAnomaly(): Promise<void> {
  const program = await unlessLacking('anomaly against PyOD', benchPython);
  const peer = program === undefined ? undefined : new Peer(program);
  const folder = mkdtempSync(join(tmpdir(), 'quern-bench-anomaly-'));
  const path = join(folder, 'rows');
  const report: Row[] = [];
  try {
    for (const backend of BACKENDS) {
      const byCount = new Map<number, [Times, Times | string]>();
      for (const [count, columns] of SIZES) {
        const values = rowsOf(count, columns);
        writeFileSync(path, values);
        const [mine, theirs] = await measure({ backend, columns, values, path }, peer);
        if (columns === SIZES[0]![1]) byCount.set(count, [mine, theirs]);
        const rows = rowsFor(`${backend}, ${count} x ${columns}`, mine, theirs);
        report.push(...rows);
        // Each row is told as it comes, so that a run that is ended early has told what it knew.
        for (const { what, ours: our, peer: their, ratio } of rows)
          process.stderr.write(`anomaly: ${what}: ${our} | ${their} | ${ratio}\n`);
      }
      report.push(...growth(backend, byCount));
    }
  } finally {
    peer?.end();
    rmSync(folder, { recursive: true, force: true });
  }
  table(
    `Anomaly detectors: ours with ${availableParallelism()} threads, PyOD over scikit-learn as it comes; a fit with the scores of its rows; autoencoder ${EPOCHS} epochs`,
    report,
  );
}
