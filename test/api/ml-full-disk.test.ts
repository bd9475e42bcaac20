import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { openMl } from '../support/ml-stage.js';
import { send } from '../support/scenario.js';
import { SmallDisk, skipWithout } from '../support/small-disk.js';

const disk = SmallDisk.mount(16);
const ROWS = Array.from({ length: 100 }, (_none, i) => [Math.sin(i), Math.cos(i * 3)]);
const EXAMPLES = ['tea', 'water', 'bread', 'rice'].map((text, at) => ({ text, label: at < 2 ? 'drink' : 'food' }));
const samples = (count: number): object[] =>
  Array.from({ length: count }, (_none, i) =>
    Object.fromEntries(Array.from({ length: 20 }, (_key, key) => [`k${key}`, Math.sin(i + key)])),
  );

describe('classical ML on a full disk', { skip: skipWithout(disk) }, () => {
  let stage: Awaited<ReturnType<typeof openMl>>;
  let application: Application;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const post = async (path: string, body: object): Promise<{ status: number; body: any }> => {
    const { status, text } = await send(application, { method: 'POST', path: `/v1/${path}`, body });
    return { status, body: JSON.parse(text) };
  };
  const fit = () => post('anomaly/fit', { model: 'm', backend: 'knn', data: ROWS, overwrite: true });
  const learn = () => post('classifier/fit', { model: 'c', base_model: 'quern-lexical', training_data: EXAMPLES, overwrite: true });
  const score = () => post('anomaly/score', { model: 'm', backend: 'knn', data: ROWS.slice(0, 3) });
  const predict = () => post('classifier/predict', { model: 'c', texts: ['hot tea'] });
  const stream = (count: number) => post('anomaly/stream', { model: 's', min_samples: 20, data: samples(count) });
  const files = (): string[] => readdirSync(join(disk!.folder, 'models'), { recursive: true }).map(String).sort();

  before(async () => {
    stage = await openMl(disk!.folder);
    application = dispatch({ endpoints: universalEndpoints, context: stage.runtime, access: { bindHost: '127.0.0.1' } } as never);
  });
  after(async () => {
    await stage.close();
    disk!.unmount();
  });

  it('refuses what it cannot keep, answers from what it has, and goes on when there is room', async () => {
    for (const { status, body } of [await fit(), await learn(), await stream(30)]) assert.equal(status, 200, JSON.stringify(body));
    const probe = (await stream(1)).body.results[0];
    const before = [files(), await score(), await predict()];
    disk!.fill();
    for (const { status, body } of [await fit(), await learn()]) {
      assert.equal(status, 507, JSON.stringify(body));
      assert.match(body.detail, /full.*Free some space/);
    }
    let refused = await stream(500);
    // The state store has a little room to spare.
    for (let sent = 0; refused.status === 200 && sent < 100; sent += 1) refused = await stream(500);
    assert.equal(refused.status, 507, JSON.stringify(refused.body));
    assert.deepEqual([files(), await score(), await predict()], before);
    const seen = await send(application, { path: '/v1/anomaly/stream/s' });
    assert.equal(seen.status, 200);
    disk!.free();
    const again = await stream(1);
    assert.equal(again.status, 200, JSON.stringify(again.body));
    if (again.body.model_version === 1) assert.equal(again.body.results[0].score, probe.score);
    for (const { status, body } of [await fit(), await learn()]) assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([files(), await score(), await predict()], before);
  });
});
