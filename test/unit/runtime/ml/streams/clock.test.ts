import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { it, mock } from 'node:test';
import { Streams } from '../../../../../runtime/ml/streams/streams.js';
import { openStore } from '../../../../../runtime/store/store.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { STREAM_SETTINGS } from '../../../../support/stream-settings.js';

const SETTINGS = {
  ...STREAM_SETTINGS,
  minSamples: 20,
  retrainInterval: 1_000,
  normalization: 'zscore' as const,
  rollingWindows: [5],
  lags: [1],
};
const NOON = Date.UTC(2026, 2, 29, 12);
const DAY_MS = 86_400_000;

it('windows, lags and scores of a stream go by the order of its samples, whatever the clock does', async (test) => {
  const folder = emptyDataDir();
  const store = await openStore(folder);
  mock.timers.enable({ apis: ['Date'], now: NOON });
  test.after(async () => {
    mock.timers.reset();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  /** The answers to 60 samples, of which the restart parts the last. */
  const answers = async (name: string, clock: (sample: number) => number): Promise<unknown[]> => {
    let streams = new Streams(store);
    const all: unknown[] = [];
    for (let sample = 0; sample < 60; sample += 1) {
      mock.timers.setTime(clock(sample));
      if (sample === 40) {
        await streams.close();
        streams = new Streams(store);
      }
      all.push(await streams.submit(name, SETTINGS, [{ a: Math.sin(sample * 7.1) }]));
    }
    const { drift, total } = await streams.get(name);
    await streams.close();
    return [...all, drift, total];
  };
  const steady = await answers('steady', (sample) => NOON + sample * 1_000);
  const jumping = await answers('jumping', (sample) => NOON + (sample % 3 === 0 ? -DAY_MS * sample : DAY_MS * 365 * sample));
  assert.deepEqual(jumping, steady);
  assert.equal(steady.at(-1), 60);
});
