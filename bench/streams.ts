import http from 'node:http';
import { freePort } from '../test/support/ports.js';
import { answers, ended, median, quantile, quern, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

/** The requests of a run. */
const REQUESTS = sizeOf('BENCH_REQUESTS', 1_500, 300);
/**
 * Samples of a request, requests of a run, and after how many samples the detector learns again: 100 is the default. A training of ECOD takes
 * a few requests' time, so that at 20 one begins every dozen milliseconds; one of the autoencoder takes longer than 100 samples do, and always runs.
 */
const KINDS = [
  { backend: 'ecod', perRequest: 1, requests: REQUESTS, every: 100 },
  { backend: 'ecod', perRequest: 1, requests: REQUESTS, every: 20 },
  { backend: 'autoencoder', perRequest: 1, requests: REQUESTS, every: 100 },
  { backend: 'ecod', perRequest: 100, requests: REQUESTS / 3, every: 2_000 },
] as const;
type Kind = (typeof KINDS)[number];
const NEVER = 1_000_000;
/** Runs of each kind, in turn: a stall of the machine of a few milliseconds moves the p99 of one run by half. */
const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 1);
const WINDOW = 1_000;
const FIRST = 500;
const PATH = '/v1/ml/anomaly/stream';

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** One request over the kept connection: the answer, and the milliseconds from sending to its last byte. */
function call(port: number, method: string, path: string, body: object): Promise<{ answer: { model_version?: number }; ms: number }> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const start = performance.now();
    const request = http.request({ port, host: '127.0.0.1', path, method, agent, headers }, (response) => {
      let got = '';
      response.on('data', (piece) => (got += piece));
      response.on('end', () => {
        const ms = performance.now() - start;
        if (response.statusCode === 200) resolve({ answer: JSON.parse(got), ms });
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${got}`));
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}

interface Run {
  /** Milliseconds of each request. */
  times: number[];
  trainings: number;
}

const sample = (index: number): object => ({ a: Math.sin(index * 7.1), b: Math.cos(index * 3.3), c: index % 97 });
const samples = (from: number, count: number): object[] => Array.from({ length: count }, (_, index) => sample(from + index));

/** Samples that are scored and on the disk when they are answered. */
async function run(port: number, { backend, perRequest, requests }: Kind, retrainInterval: number): Promise<Run> {
  const body = (data: object[]): object => ({
    model: 'stream',
    backend,
    data,
    min_samples: FIRST,
    retrain_interval: retrainInterval,
    window_size: WINDOW,
    rolling_windows: [5, 20],
    include_lags: true,
    lag_periods: [1],
  });
  await call(port, 'POST', PATH, body(samples(0, FIRST)));
  const times: number[] = [];
  let version = 1;
  for (let request = 0; request < requests; request += 1) {
    const { answer, ms } = await call(port, 'POST', PATH, body(samples(FIRST + request * perRequest, perRequest)));
    version = answer.model_version ?? version;
    times.push(ms);
  }
  await call(port, 'DELETE', `${PATH}/stream`, {});
  return { times, trainings: version - 1 };
}

/** Without retraining, with it, and without it once more, which shows what the machine alone does: all requests of runs that take turns. */
async function inTurn(port: number, kind: Kind): Promise<readonly [Run, Run, Run]> {
  const arms = [NEVER, kind.every, NEVER].map((interval) => ({ interval, times: [] as number[], trainings: 0 }));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const arm of round % 2 === 0 ? arms : arms.toReversed()) {
      const { times, trainings } = await run(port, kind, arm.interval);
      // The first round warms the compiler up and is not counted.
      if (round === 0) continue;
      arm.times.push(...times);
      arm.trainings += trainings;
    }
  }
  return [arms[0]!, arms[1]!, arms[2]!];
}

/** Measures what a client of a streaming detector waits for, with and without retraining, and prints the table. */
export async function benchStreams(): Promise<void> {
  const port = await freePort();
  const daemon = quern('start', port);
  await answers(`http://127.0.0.1:${port}/health`);
  const rows: Row[] = [];
  for (const kind of KINDS) {
    const [calm, busy, again] = await inTurn(port, kind);
    const what = `${kind.backend}, ${kind.perRequest} a request, ${busy.trainings} trainings in ${busy.times.length} requests`;
    const row = (of: string, figure: (one: Run) => number, digits: number, one = busy): Row => {
      const [ours, peer] = [figure(one), figure(calm)];
      return {
        what: `${what}: ${of}`,
        ours: ours.toFixed(digits),
        peer: peer.toFixed(digits),
        ratio: `${(ours / peer).toFixed(2)}x`,
        goal: '',
      };
    };
    const p99 = ({ times }: Run): number => quantile(times, 0.99);
    rows.push(
      row('scores/s', ({ times }) => (times.length * kind.perRequest * 1000) / times.reduce((sum, time) => sum + time, 0), 0),
      row('ms a request, p50', ({ times }) => median(times), 2),
      row('ms a request, p99', p99, 2),
      row('p99 of two calm arms', p99, 2, again),
    );
  }
  await ended(daemon);
  table(`Streaming detectors over HTTP, one client (peer: without retraining): 3 keys, two windows and a lag, window ${WINDOW}`, rows);
}
