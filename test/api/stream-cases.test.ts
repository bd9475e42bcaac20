import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { send } from '../support/scenario.js';
import { tablesStage } from '../support/tables-stage.js';

interface Result {
  score: number | null;
  samples_until_ready: number;
}
const PLAIN = { backend: 'ecod', min_samples: 10, retrain_interval: 1000, window_size: 50 };
const sample = (index: number): { x: number } => ({ x: 100 + 5 * Math.sin(index * 12.9898) });
const samples = (from: number, count: number): { x: number }[] => Array.from({ length: count }, (_, at) => sample(from + at));
const scored = (results: readonly Result[]): boolean[] => results.map(({ score }) => score !== null);

for (const [port, endpoints, ml] of [
  ['core', coreEndpoints, '/v1/ml'],
  ['runtime', universalEndpoints, '/v1'],
] as const)
  describe(`what the reference system's tests check of streams and buffers, on the port of the ${port}`, () => {
    const stage = tablesStage();
    let application: Application;
    before(async () => {
      const context = await stage.context();
      application = dispatch({ endpoints: endpoints as typeof coreEndpoints, context, access: { bindHost: '127.0.0.1' } });
    });
    after(() => stage.close());

    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    async function ask(method: string, path: string, body?: unknown): Promise<any> {
      const { status, text } = await send(application, { method, path: ml + path, body });
      assert.equal(status, 200, text);
      return JSON.parse(text);
    }
    const stream = (model: string, data: unknown, more: object = {}) => ask('POST', '/anomaly/stream', { ...PLAIN, ...more, model, data });
    const append = (buffer: string, data: unknown) => ask('POST', '/polars/append', { buffer_id: buffer, data });
    const buffer = (name: string, size: number) => ask('POST', '/polars/buffers', { buffer_id: name, window_size: size });

    it('collects min_samples one by one, and scores the next', async () => {
      for (let index = 0; index < 9; index += 1) {
        const { results, status } = await stream('single', sample(index));
        assert.deepEqual([status, results[0].score, results[0].samples_until_ready], ['collecting', null, 9 - index]);
      }
      const tenth = await stream('single', sample(9));
      assert.deepEqual([tenth.status, tenth.model_version, tenth.samples_until_ready], ['ready', 1, 0]);
      assert.deepEqual(scored((await stream('single', sample(10))).results), [true]);
    });

    it('gives 1000 among values about 100 a higher score', async () => {
      await stream('outlier', samples(0, 40));
      const { results } = await stream('outlier', [{ x: 100 }, { x: 1000 }]);
      assert.ok(results[1].score > results[0].score, JSON.stringify(results));
    });

    it('is ready after one request of min_samples, and scores all of the next', async () => {
      assert.equal((await stream('batch', samples(0, 10))).status, 'ready');
      assert.deepEqual(scored((await stream('batch', samples(10, 10))).results), Array(10).fill(true));
    });

    it('learns again after retrain_interval samples, and scores meanwhile', async () => {
      let version = (await stream('again', samples(0, 10), { retrain_interval: 20 })).model_version;
      assert.equal(version, 1);
      const until = performance.now() + 60_000;
      for (let index = 10; version < 2 && performance.now() < until; index += 1) {
        const { results, model_version } = await stream('again', sample(index));
        assert.deepEqual(scored(results), [true]);
        version = model_version;
        await wait(5);
      }
      assert.ok(version >= 2, `version ${version}`);
    });

    it('keeps a window, and is one detector by its name until it is reset or deleted', async () => {
      await stream('kept', samples(0, 100));
      assert.equal((await ask('GET', '/anomaly/stream/kept')).samples_collected, 50);
      assert.equal((await stream('kept', sample(0))).model_version, 1);
      assert.equal((await ask('POST', '/anomaly/stream/kept/reset')).status, 'collecting');
      const { status, model_version: version, samples_collected: count } = await ask('GET', '/anomaly/stream/kept');
      assert.deepEqual([status, version, count], ['collecting', 0, 0]);
      await ask('DELETE', '/anomaly/stream/kept');
      assert.equal((await send(application, { path: `${ml}/anomaly/stream/kept` })).status, 404);
    });

    it('a buffer of 10 rows holds 10 to 19 of 20', async () => {
      await buffer('ring', 10);
      for (let value = 0; value < 20; value += 1) await append('ring', { value });
      const { data } = await ask('GET', '/polars/buffers/ring/data');
      assert.deepEqual(
        data,
        Array.from({ length: 10 }, (_, at) => ({ value: 10 + at })),
      );
    });

    it('features of 1 to 10 with a window of 3, and none of a text', async () => {
      await buffer('ten', 10);
      await append(
        'ten',
        Array.from({ length: 10 }, (_, at) => ({ v: at + 1, t: 'word' })),
      );
      const { data, columns } = await ask('POST', '/polars/features', { buffer_id: 'ten', rolling_windows: [3], lag_periods: [1, 2] });
      const expected = { v_rolling_mean_3: 9, v_rolling_std_3: 1, v_rolling_min_3: 8, v_rolling_max_3: 10, v_lag_1: 9, v_lag_2: 8 };
      assert.deepEqual(data.at(-1), { v: 10, t: 'word', ...expected });
      assert.deepEqual(columns, ['v', 't', ...Object.keys(expected)]);
    });

    it('statistics count each row of a request of 50', async () => {
      await buffer('fifty', 100);
      await append(
        'fifty',
        Array.from({ length: 50 }, (_, value) => ({ value })),
      );
      const { append_count: count, memory_bytes: bytes } = await ask('GET', '/polars/buffers/fifty');
      assert.equal(count, 50);
      assert.ok(bytes > 0);
    });
  });
