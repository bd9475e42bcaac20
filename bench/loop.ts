import { fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchPath } from '../test/support/models/cache.js';
import { freePort } from '../test/support/ports.js';
import type { LoadPlan, LoadResult } from './load.js';
import { answers, ask, ended, type LoopDelay, part, ROOT, table } from './measure.js';

const STREAMS = 32;
const ROUNDS = 3;

/** Measures the daemon's event-loop delay while 32 streams run, and prints the table. */
export async function benchLoop(): Promise<void> {
  const port = await freePort();
  const daemon = fork(
    join(ROOT, 'build/bundle/main.js'),
    ['runtime', '--runtime-port', String(port), '--data-dir', mkdtempSync(join(tmpdir(), 'quern-bench-'))],
    {
      execArgv: ['--import', join(ROOT, 'build/bench/loop-probe.js')],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  );
  process.on('exit', () => daemon.kill('SIGKILL'));
  await answers(`http://127.0.0.1:${port}/health`);
  const load = part('load');
  const plan: LoadPlan = {
    url: `http://127.0.0.1:${port}`,
    model: benchPath(),
    streams: STREAMS,
    maxTokens: 128,
    promptWords: 14,
    systemWords: 0,
    seed: 1,
    extra: { extra_body: { n_ctx: 512, n_slots: STREAMS, n_threads: 2 } },
  };
  await ask<LoadResult>(load, plan);
  await ask(daemon, { probe: 'reset' });
  for (let round = 0; round < ROUNDS; round++) await ask<LoadResult>(load, { ...plan, seed: round + 2 });
  const delay = await ask<LoopDelay>(daemon, { probe: 'read' });
  load.kill();
  await ended(daemon);
  table(`Event loop of the daemon while ${STREAMS} streams run`, [
    { what: 'delay p50, ms', ours: delay.p50Ms.toFixed(2), peer: '', ratio: '', goal: '' },
    { what: 'delay p99, ms', ours: delay.p99Ms.toFixed(2), peer: '', ratio: '', goal: '<= 5' },
    { what: 'delay max, ms', ours: delay.maxMs.toFixed(2), peer: '', ratio: '', goal: '' },
  ]);
}
