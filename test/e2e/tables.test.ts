import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

/** Kills in the middle of a training, as it is hoped, and more where none of them met one. */
const LEAST_ROUNDS = 3;
const MOST_ROUNDS = 30;
/** Trainings get what others leave of the processors. */
const PATIENCE_MS = 300_000;

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Json = any;

async function ask(base: string, path: string, body?: unknown): Promise<Json> {
  const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const reply = await fetch(base + path, init);
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  return JSON.parse(text);
}

/** Sends one after the other until the daemon is gone, and counts what was acknowledged. */
class Sender {
  acknowledged = 0;
  readonly done: Promise<void>;

  constructor(send: (index: number) => Promise<unknown>) {
    this.done = this.#run(send);
  }

  async #run(send: (index: number) => Promise<unknown>): Promise<void> {
    try {
      for (;;) {
        await send(this.acknowledged);
        this.acknowledged += 1;
      }
    } catch {}
  }
}

describe('data buffers and streams when the daemon is killed', () => {
  let daemon: DaemonUnderTest;
  before(async () => {
    daemon = await startDaemon();
  });
  after(() => daemon.end());

  /** Kills the daemon when each sender has got so far; how far each got. */
  const killAfter = async (least: number, sends: ((index: number) => Promise<unknown>)[]): Promise<number[]> => {
    const senders = sends.map((send) => new Sender(send));
    const ended = Promise.all(senders.map(({ done }) => done));
    let over = false;
    void ended.then(() => {
      over = true;
    });
    while (!over && senders.some(({ acknowledged }) => acknowledged < least)) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(!over, 'a request failed before the daemon was killed');
    await daemon.end('SIGKILL');
    await ended;
    daemon = await startDaemon({ dataDir: daemon.dataDir });
    return senders.map(({ acknowledged }) => acknowledged);
  };

  it('every acknowledged row is there, also of segments that were merged meanwhile', async () => {
    await ask(daemon.core, '/v1/ml/polars/buffers', { buffer_id: 'killed', window_size: 100_000 });
    await ask(daemon.core, '/v1/ml/polars/buffers', { buffer_id: 'narrow', window_size: 50 });
    const append = (buffer: string, writer: number) => (index: number) =>
      ask(daemon.core, '/v1/ml/polars/append', { buffer_id: buffer, data: { writer, index, text: `row ${index}` } });
    const acknowledged = await killAfter(75, [append('killed', 0), append('killed', 1), append('killed', 2), append('narrow', 0)]);
    const { data } = await ask(daemon.core, '/v1/ml/polars/buffers/killed/data');
    for (const writer of [0, 1, 2]) {
      const rows = data.filter((row: Json) => row.writer === writer);
      // Written, but not acknowledged, when the daemon died.
      assert.ok(
        rows.length === acknowledged[writer] || rows.length === acknowledged[writer]! + 1,
        `${rows.length} of ${acknowledged[writer]}`,
      );
      for (const [index, row] of rows.entries()) assert.deepEqual(row, { writer, index, text: `row ${index}` });
    }
    const narrow = await ask(daemon.core, '/v1/ml/polars/buffers/narrow/data');
    const last = narrow.data.at(-1).index;
    assert.ok(last === acknowledged[3]! - 1 || last === acknowledged[3]);
    assert.deepEqual(
      narrow.data.map((row: Json) => row.index),
      Array.from({ length: narrow.rows }, (_, index) => last - narrow.rows + 1 + index),
    );
    assert.equal((await ask(daemon.core, '/v1/ml/polars/buffers/narrow')).append_count, last + 1);
  });

  it('acknowledged samples are counted, scores go on, and the same model is there', async () => {
    const sample = (index: number) => ({ a: Math.sin(index * 7.1), b: Math.cos(index * 3.3) });
    const stream = { model: 'killed', min_samples: 20, retrain_interval: 25, window_size: 200, rolling_windows: [5] };
    const steady = { model: 'steady', min_samples: 20, retrain_interval: 10_000, window_size: 200 };
    const steadily = (index: number): Promise<Json> => ask(daemon.runtime, '/v1/anomaly/stream', { ...steady, data: sample(index) });
    for (let index = 0; index < 25; index += 1) await steadily(index);
    const { results: before } = await steadily(100);
    let version = 0;
    const [acknowledged] = await killAfter(70, [
      async (index) => {
        const reply = await ask(daemon.runtime, '/v1/anomaly/stream', { ...stream, data: sample(index) });
        assert.equal(reply.results[0].score === null, index < 20);
        version = reply.model_version;
      },
    ]);
    const stats = await ask(daemon.core, '/v1/ml/anomaly/stream/killed');
    assert.ok(
      stats.total_processed === acknowledged || stats.total_processed === acknowledged! + 1,
      `${stats.total_processed} of ${acknowledged}`,
    );
    assert.ok(stats.model_version >= version && stats.status === 'ready' && stats.training_failures === 0);
    const reply = await ask(daemon.runtime, '/v1/anomaly/stream', { ...stream, data: sample(9) });
    assert.ok(reply.results[0].score !== null);
    const { results: after } = await steadily(100);
    assert.ok(before[0].score !== null);
    assert.deepEqual({ score: after[0].score, raw: after[0].raw_score }, { score: before[0].score, raw: before[0].raw_score });
  });

  it('a kill in the middle of a training leaves the model before it, or the new one', async () => {
    // Trained anew as soon as the last training has ended, which takes many requests.
    const stream = { model: 'midway', backend: 'autoencoder', min_samples: 20, retrain_interval: 10, window_size: 500 };
    let [sent, hit] = [0, 0];
    for (let round = 0; round < LEAST_ROUNDS || (hit === 0 && round < MOST_ROUNDS); round += 1) {
      let last: Json = {};
      const [acknowledged] = await killAfter(60, [
        async (index) => {
          last = await ask(daemon.runtime, '/v1/anomaly/stream', {
            ...stream,
            data: { x: Math.sin(sent + index), y: Math.cos(3 * (sent + index)) },
          });
        },
      ]);
      sent += acknowledged!;
      hit += Number(last.status === 'retraining');
      const stats = await ask(daemon.core, '/v1/ml/anomaly/stream/midway');
      assert.ok(stats.model_version >= last.model_version && stats.training_failures === 0, JSON.stringify(stats));
      assert.ok(stats.total_processed >= sent && stats.total_processed <= sent + 1, `${stats.total_processed} of ${sent}`);
      sent = stats.total_processed;
    }
    assert.ok(hit > 0, 'no kill met a training');
    const { results } = await ask(daemon.runtime, '/v1/anomaly/stream', { ...stream, data: { x: 0.5, y: 0.5 } });
    assert.ok(results[0].score !== null);
  });

  it('retrains in the background and never stops scoring', async () => {
    const stream = { model: 'ticktock', min_samples: 20, retrain_interval: 20, window_size: 100 };
    let [version, sent] = [0, 0];
    for (const until = Date.now() + PATIENCE_MS; version < 5 && Date.now() < until; sent += 1) {
      const { results, model_version: now } = await ask(daemon.core, '/v1/ml/anomaly/stream', { ...stream, data: { x: Math.sin(sent) } });
      assert.equal(results[0].score === null, sent < 20, `sample ${sent}`);
      assert.ok(now >= version);
      version = now;
    }
    assert.ok(version >= 5, `version ${version} after ${sent} samples`);
  });

  it('the core acts on a remote runtime through the same interface', async () => {
    const remote = await startDaemon({ args: ['--runtime-url', daemon.runtime] });
    try {
      const base = `${remote.core}/v1/ml`;
      await ask(base, '/polars/buffers', { buffer_id: 'far', window_size: 20 });
      assert.equal((await ask(base, '/polars/append', { buffer_id: 'far', data: [{ x: 1 }, { x: 3 }] })).buffer_size, 2);
      const features = await ask(base, '/polars/features', {
        buffer_id: 'far',
        rolling_windows: [2],
        include_rolling_stats: ['mean'],
        include_lags: false,
        tail: 1,
      });
      assert.deepEqual(features.data, [{ x: 3, x_rolling_mean_2: 2 }]);
      const csv = await fetch(`${base}/polars/buffers/far/data?tail=1`, { headers: { accept: 'text/csv' } });
      assert.equal(await csv.text(), 'x\r\n3\r\n');
      assert.deepEqual((await ask(daemon.runtime, '/v1/polars/buffers/far')).append_count, 2);
      assert.equal((await ask(`${remote.runtime}/v1`, '/polars/buffers')).total, 0);
      assert.equal((await fetch(`${base}/polars/buffers/none`)).status, 404);
      const refused = await fetch(`${base}/polars/append`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"buffer_id":"far","data":{"x":"hot"}}',
      });
      assert.equal(refused.status, 422);
      assert.match(await refused.text(), /Row 0, column .*hot/);
      assert.equal((await ask(base, '/anomaly/stream', { model: 'far', data: { x: 1 } })).samples_until_ready, 49);
      assert.equal((await ask(daemon.runtime, '/v1/anomaly/stream/far')).samples_collected, 1);
      assert.ok((await ask(base, '/anomaly/stream/detectors')).data.some((one: Json) => one.model_id === 'far'));
      assert.equal((await ask(base, '/anomaly/stream/far/reset', {})).status, 'collecting');
      assert.equal((await fetch(`${base}/anomaly/stream/far`, { method: 'DELETE' })).status, 200);
      assert.equal((await fetch(`${base}/anomaly/stream/far`)).status, 404);
      assert.equal((await ask(base, '/polars/buffers/far/clear', {})).size, 0);
      assert.equal((await fetch(`${base}/polars/buffers/far`, { method: 'DELETE' })).status, 200);
    } finally {
      await remote.end();
    }
  });
});
