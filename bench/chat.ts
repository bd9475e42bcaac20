import type { ChildProcess } from 'node:child_process';
import { benchPath } from '../test/support/models/cache.js';
import { freePort } from '../test/support/ports.js';
import { benchArrivals } from './arrivals.js';
import { benchDeterministic } from './deterministic.js';
import { unlessLacking } from './lacking.js';
import type { LoadPlan, LoadResult } from './load.js';
import { answers, ask, ended, median, part, program, quantile, quern, type Row, table } from './measure.js';
import type { PeerPlan, PeerResult } from './node-llama-cpp.js';
import { llamaServer } from './peers.js';
import { QUICK, sizeOf } from './size.js';

const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 2);
const STREAMS = QUICK ? [1, 8] : [1, 8, 32];
const GOAL: Record<number, number> = { 1: 1, 8: 1.2, 32: 1.2 };
const MAX_TOKENS = 128;
const PROMPT_WORDS = 14;
/** About 250 tokens: the system prompt of a project, which all its chats share. */
const SYSTEM_WORDS = 60;
const CONTEXT = 512;
const THREADS = 2;

/** A server under test: how it is started for a number of streams, and the model name it wants. */
interface Contender {
  name: string;
  model: string;
  start(streams: number, port: number): Promise<ChildProcess>;
}

function contenders(model: string): Contender[] {
  return [
    {
      name: 'Quern',
      model,
      start: async (_streams, port) => {
        const child = quern('runtime', port);
        await answers(`http://127.0.0.1:${port}/health`);
        return child;
      },
    },
    {
      name: 'llama-server',
      model: 'bench',
      start: async (streams, port) => {
        const child = program(llamaServer(), [
          '-m',
          model,
          '--host',
          '127.0.0.1',
          '--port',
          String(port),
          '-np',
          String(streams),
          '-c',
          String(CONTEXT * streams),
          '-t',
          String(THREADS),
          '-tb',
          String(THREADS),
          '--no-webui',
        ]);
        await answers(`http://127.0.0.1:${port}/health`);
        return child;
      },
    },
  ];
}

interface Sample {
  rate: number[];
  firstTokenMs: number[];
}

/** Interleaves the contenders within each round, so that a noisy minute hits both. */
async function measureServers(model: string, streams: number, systemWords: number): Promise<Record<string, Sample>> {
  const samples: Record<string, Sample> = {};
  const running: { contender: Contender; child: ChildProcess; port: number }[] = [];
  for (const contender of contenders(model)) {
    const port = await freePort();
    const child = await unlessLacking(`chat against ${contender.name}`, () => contender.start(streams, port));
    if (!child) continue;
    running.push({ contender, port, child });
    samples[contender.name] = { rate: [], firstTokenMs: [] };
  }
  const load = part('load');
  for (let round = -1; round < ROUNDS; round++) {
    for (const { contender, port } of running) {
      const plan: LoadPlan = {
        url: `http://127.0.0.1:${port}`,
        model: contender.model,
        streams,
        maxTokens: MAX_TOKENS,
        promptWords: PROMPT_WORDS,
        systemWords,
        seed: round + 2,
        extra: { extra_body: { n_ctx: CONTEXT, n_slots: streams, n_threads: THREADS } },
      };
      const result = await ask<LoadResult>(load, plan);
      // The first round only warms up and is not counted.
      if (round < 0) continue;
      samples[contender.name]!.rate.push(result.tokens / result.seconds);
      samples[contender.name]!.firstTokenMs.push(...result.firstTokenMs);
    }
  }
  load.kill();
  for (const { child } of running) await ended(child);
  return samples;
}

async function measureJsApi(model: string, streams: number): Promise<number> {
  const child = part('node-llama-cpp');
  const plan: PeerPlan = {
    model,
    streams,
    maxTokens: MAX_TOKENS,
    promptWords: PROMPT_WORDS,
    context: CONTEXT,
    threads: THREADS,
    rounds: Math.min(ROUNDS, 3),
  };
  const { rates } = await ask<PeerResult>(child, plan);
  child.kill();
  return median(rates);
}

/** The rows of one number of streams, against llama-server where it is here. */
async function serverRows(model: string, streams: number, systemWords: number, goal: string): Promise<{ rows: Row[]; rate: number }> {
  const { Quern: ours, 'llama-server': peer } = (await measureServers(model, streams, systemWords)) as {
    Quern: Sample;
    'llama-server'?: Sample;
  };
  const kind = `${streams} streams${systemWords > 0 ? ' that share a new system prompt' : ''}`;
  const row = (what: string, of: (sample: Sample) => number, target: string): Row => ({
    what,
    ours: of(ours).toFixed(0),
    peer: peer ? of(peer).toFixed(0) : '',
    ratio: peer ? `${(of(ours) / of(peer)).toFixed(2)}x` : '',
    goal: target,
  });
  const rate = median(ours.rate);
  const first = (label: string, share: number): Row =>
    row(`first token ${label}, ${kind}, ms`, (sample) => quantile(sample.firstTokenMs, share), '');
  const rows = [row(`tokens/s, ${kind}`, (sample) => median(sample.rate), goal), first('p50', 0.5), first('p99', 0.99)];
  // The rows are told as they come, because the table is complete after minutes only.
  for (const { what, ours: mine, peer: theirs, ratio } of rows)
    process.stderr.write(`bench: ${what}: ${mine} against ${theirs}, ${ratio}\n`);
  return { rate, rows };
}

/** Measures streamed chat against llama-server and node-llama-cpp, and prints the tables. */
export async function benchChat(): Promise<void> {
  await benchArrivals();
  await benchDeterministic();
  const model = benchPath();
  const against: Row[] = [];
  const inProcess: Row[] = [];
  for (const streams of STREAMS) {
    const { rows, rate } = await serverRows(model, streams, 0, `>= ${GOAL[streams]}x`);
    against.push(...rows);
    const jsApi = await measureJsApi(model, streams);
    inProcess.push({
      what: `tokens/s, ${streams} streams`,
      ours: rate.toFixed(0),
      peer: jsApi.toFixed(0),
      ratio: `${(rate / jsApi).toFixed(2)}x`,
      goal: '',
    });
  }
  for (const streams of STREAMS.slice(1)) against.push(...(await serverRows(model, streams, SYSTEM_WORDS, '')).rows);
  const conditions = `54M-parameter model, Q8_0, ${PROMPT_WORDS}-word prompts, ${MAX_TOKENS} new tokens, ${THREADS} threads, medians of ${ROUNDS} interleaved runs`;
  table(`Chat over HTTP against llama-server: ${conditions}`, against);
  table('The same against node-llama-cpp in process (it has no HTTP to pay for)', inProcess);
}
