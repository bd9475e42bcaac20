import { benchPath } from '../test/support/models/cache.js';
import { freePort } from '../test/support/ports.js';
import type { LoadPlan, LoadResult } from './load.js';
import { answers, ask, ended, median, part, quern, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 2);
const STREAMS = [1, 8];

/** Measures what deterministic answers cost, in turn with ordinary ones, and prints the table. */
export async function benchDeterministic(): Promise<void> {
  const rows: Row[] = [];
  for (const streams of STREAMS) {
    const port = await freePort();
    const daemon = quern('runtime', port);
    await answers(`http://127.0.0.1:${port}/health`);
    const load = part('load');
    const rates: Record<'true' | 'false', number[]> = { true: [], false: [] };
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const deterministic of [true, false] as const) {
        const plan: LoadPlan = {
          url: `http://127.0.0.1:${port}`,
          model: benchPath(),
          streams,
          maxTokens: 64,
          promptWords: 60,
          systemWords: 0,
          seed: round + 2,
          extra: { deterministic, extra_body: { n_ctx: 512, n_slots: streams } },
        };
        const { tokens, seconds } = await ask<LoadResult>(load, plan);
        // The first round loads the model and makes the context apart.
        if (round >= 0) rates[`${deterministic}`].push(tokens / seconds);
      }
    }
    load.kill();
    await ended(daemon);
    const [ours, peer] = [median(rates.true), median(rates.false)];
    const what = `tokens/s, ${streams} ${streams === 1 ? 'stream' : 'streams'}`;
    rows.push({ what, ours: ours.toFixed(0), peer: peer.toFixed(0), ratio: `${(ours / peer).toFixed(2)}x`, goal: '' });
  }
  table(`Deterministic answers (peer: ordinary ones): 54M-parameter model, Q8_0, 60-word prompts, 64 new tokens, ${ROUNDS} rounds`, rows);
}
