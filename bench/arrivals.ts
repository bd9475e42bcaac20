import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { emptyDataDir } from '../test/support/daemon.js';
import { benchPath } from '../test/support/models/cache.js';
import { freePort } from '../test/support/ports.js';
import type { LoadPlan, LoadResult } from './load.js';
import { answers, ask, ended, part, program, quantile, ROOT, type Row, table } from './measure.js';
import { QUICK, sizeOf } from './size.js';

const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 2);
const PROMPTS = QUICK ? [1, 8] : [1, 8, 32];
const RUNNING = 4;
/** Words of a new prompt: about 250 tokens. */
const PROMPT_WORDS = 60;
const CONTEXT = 1024;
/** Tokens of an answer: enough to tell the first from the last. */
const MAX_TOKENS = 8;
/** The folder of an older checkout that is built, to be measured in turn with this one. */
const BEFORE = process.env.BENCH_BEFORE;

/** A build under test. */
interface Contender {
  readonly url: string;
  readonly child: ChildProcess;
  readonly firstTokenMs: number[];
  readonly gapMs: number[];
}

async function start(root: string): Promise<Contender> {
  const port = await freePort();
  const runtime = [join(root, 'build/bundle/main.js'), 'runtime', '--runtime-port', String(port), '--data-dir', emptyDataDir()];
  const child = program(process.execPath, runtime);
  const url = `http://127.0.0.1:${port}`;
  await answers(`${url}/health`);
  return { url, child, firstTokenMs: [], gapMs: [] };
}

/** New prompts that come at once, beside streams that run: both builds in turn within each round. */
async function rowsOf(prompts: number, running: number): Promise<Row[]> {
  const contenders = await Promise.all([ROOT, ...(BEFORE === undefined ? [] : [BEFORE])].map(start));
  const load = part('load');
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const one of contenders) {
      const plan: LoadPlan = {
        url: one.url,
        model: benchPath(),
        streams: prompts,
        running,
        maxTokens: MAX_TOKENS,
        promptWords: PROMPT_WORDS,
        systemWords: 0,
        seed: round + 2,
        extra: { extra_body: { n_ctx: CONTEXT, n_slots: prompts + running } },
      };
      const result = await ask<LoadResult>(load, plan);
      // The first round loads the model.
      if (round < 0) continue;
      one.firstTokenMs.push(...result.firstTokenMs);
      one.gapMs.push(...result.gapMs);
    }
  }
  load.kill();
  for (const { child } of contenders) await ended(child);
  const [ours, before] = contenders as [Contender, Contender?];
  const row = (of: string, figure: (one: Contender) => number): Row => ({
    what: `${prompts} new ${prompts === 1 ? 'prompt' : 'prompts'}, ${running} running: ${of}`,
    ours: figure(ours).toFixed(0),
    peer: before ? figure(before).toFixed(0) : '',
    ratio: before ? `${(figure(ours) / figure(before)).toFixed(2)}x` : '',
    goal: '',
  });
  const first = ([50, 99] as const).map((share) => row(`first token p${share}, ms`, (one) => quantile(one.firstTokenMs, share / 100)));
  const gaps = ([50, 99] as const).map((share) => row(`gap p${share}, ms`, (one) => quantile(one.gapMs, share / 100)));
  return running > 0 ? [...first, ...gaps] : first;
}

/** Measures how long new prompts wait and how long they hold up running streams, and prints the table. */
export async function benchArrivals(): Promise<void> {
  const rows: Row[] = [];
  for (const running of [0, RUNNING])
    for (const prompts of PROMPTS) {
      rows.push(...(await rowsOf(prompts, running)));
      process.stderr.write(`bench: ${rows.at(-1)!.what}: ${rows.at(-1)!.ours} (${rows.at(-1)!.peer})\n`);
    }
  const title = `New prompts of ${PROMPT_WORDS} words beside running streams (peer: the build in BENCH_BEFORE)`;
  table(`${title}: 54M-parameter model, Q8_0, ${ROUNDS} rounds`, rows);
}
