import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { NativeColumns } from '../../../../../native/contract.js';
import { loadCore } from '../../../../../native/loader.js';
import { STREAM_LIMITS } from '../../../../../runtime/ml/streams/contract.js';
import { Streams } from '../../../../../runtime/ml/streams/streams.js';
import { type Batch, type DetectorRecord, openStore, type Store } from '../../../../../runtime/store/store.js';
import type { Failure } from '../../../../../schemas/errors.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { STREAM_SETTINGS } from '../../../../support/stream-settings.js';
import { until } from '../../../../support/until.js';

const SETTINGS = { ...STREAM_SETTINGS, minSamples: 50, retrainInterval: 20, windowSize: 200 };
const samples = (from: number, count: number): { a: number }[] => Array.from({ length: count }, (_, at) => ({ a: Math.sin(from + at) }));

describe('models of streams on the disk', () => {
  let folder: string;
  let store: Store;
  /** What the writes put, one after the other: the version that a record counts, and how many models were put with it or before. */
  const written: { version: number; models: number }[] = [];
  /** Holds a write of a model alone back, as a slow disk would. */
  let alone: (() => Promise<void>) | undefined;

  before(async () => {
    folder = emptyDataDir();
    store = await openStore(folder);
    const write = store.write.bind(store);
    const models = new Map<unknown, number>();
    store.write = (fill, chain) =>
      write(async (batch: Batch) => {
        const put = batch.put.bind(batch) as (...given: unknown[]) => void;
        const versions: [name: unknown, version: number][] = [];
        batch.put = (...given: unknown[]) => {
          const [table, name, value] = given;
          if (table === 'detectorModels') models.set(name, (models.get(name) ?? 0) + 1);
          if (table === 'detectors') versions.push([name, (value as DetectorRecord).version]);
          put(...given);
        };
        await fill(batch);
        if (batch.changes[0]?.table === 'detectorModels') await alone?.();
        for (const [name, version] of versions) written.push({ version, models: models.get(name) ?? 0 });
      }, chain);
  });
  after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('come in one write with the first record that counts them, however many samples arrive meanwhile', async () => {
    const streams = new Streams(store);
    await streams.submit('s', SETTINGS, samples(0, 60));
    for (let round = 0; round < 60; round += 1)
      await Promise.all(Array.from({ length: 4 }, (_, at) => streams.submit('s', SETTINGS, samples(100 + round * 4 + at, 1))));
    await streams.close();
    assert.ok(written.at(-1)!.version >= 3, `${written.at(-1)!.version} trainings`);
    for (const { version, models } of written) assert.equal(models, version);
  });

  it('come by themselves when no sample follows', async () => {
    const streams = new Streams(store);
    written.length = 0;
    const { version } = await streams.submit('idle', SETTINGS, samples(0, 60));
    await streams.submit('idle', SETTINGS, samples(60, 20));
    await until(() => (written.at(-1)?.version ?? 0) > version);
    await streams.close();
  });

  it('are there again after a close right behind the training', async () => {
    const streams = new Streams(store);
    await streams.submit('closed', SETTINGS, samples(0, 60));
    await streams.submit('closed', SETTINGS, samples(60, 20));
    await until(async () => (await streams.get('closed')).version > 1);
    await streams.close();
    const again = new Streams(store);
    const { version, status } = await again.submit('closed', SETTINGS, samples(80, 1));
    assert.deepEqual([version, status], [2, 'ready']);
    await again.close();
  });

  it('keep their detector in memory until they are there', async () => {
    const streams = new Streams(store, { ...STREAM_LIMITS, loaded: 1 });
    let begun = false;
    let release!: () => void;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    alone = () => {
      begun = true;
      return held;
    };
    await streams.submit('other', SETTINGS, samples(0, 1));
    await streams.submit('slow', SETTINGS, samples(0, 60));
    await streams.submit('slow', SETTINGS, samples(60, 20));
    await until(() => begun);
    // With room for one detector, the end of any request unloads those that nothing holds.
    await streams.submit('other', SETTINGS, samples(1, 1));
    assert.equal((await streams.get('slow')).version, 2);
    const next = streams.submit('slow', SETTINGS, samples(80, 1));
    release();
    alone = undefined;
    assert.equal((await next).version, 2);
    await streams.close();
  });

  it('nothing is learned where a reset, a delete or a close comes between a request and the training that it asks for', async () => {
    const streams = new Streams(store);
    for (const name of ['reset', 'deleted', 'closed-early']) {
      await streams.submit(name, SETTINGS, samples(0, 60));
      // The answer is there before the training begins.
      assert.equal((await streams.submit(name, SETTINGS, samples(60, 20))).status, 'retraining');
      if (name === 'reset') await streams.reset(name);
      else if (name === 'deleted') await streams.remove(name);
      else await streams.close();
    }
    const again = new Streams(store);
    assert.deepEqual(
      (await again.list()).filter(({ name }) => name === 'deleted'),
      [],
    );
    assert.equal((await again.get('reset')).version, 0);
    assert.equal((await again.submit('closed-early', SETTINGS, samples(80, 1))).version, 1);
    await again.close();
  });

  it('a detector that is deleted does not come back by a reset that was asked for meanwhile', async () => {
    const streams = new Streams(store);
    await streams.submit('gone', SETTINGS, samples(0, 60));
    const [removal, reset] = await Promise.allSettled([streams.remove('gone'), streams.reset('gone')]);
    assert.equal(removal.status, 'fulfilled');
    assert.equal(reset.status === 'rejected' && (reset.reason as Failure).kind, 'not_found');
    await assert.rejects(streams.get('gone'), { kind: 'not_found' });
    await streams.close();
  });

  it('a training counts the samples that it learned, also of a request that it comes between', async () => {
    const streams = new Streams(store);
    const settings = { ...SETTINGS, rollingWindows: [5], retrainInterval: 500, windowSize: 4_000 };
    await streams.submit('between', settings, samples(0, 60));
    await Promise.all([streams.submit('between', settings, samples(60, 500)), streams.submit('between', settings, samples(560, 3_000))]);
    await until(async () => (await streams.get('between')).status === 'ready');
    await streams.close();
    const { version, total, sinceTraining, expected } = store.detectors.get('between')!;
    assert.ok(version >= 2);
    assert.equal(sinceTraining + expected.reduce((sum, rows) => sum + rows), total, 'what was learned and what came since');
  });

  it('detectors that retrain at the same time take turns, and one that waits can be reset', async (t) => {
    const streams = new Streams(store, { ...STREAM_LIMITS, retrainings: 1 });
    const names = Array.from({ length: 6 }, (_, at) => `turn-${at}`);
    const [first, last] = [names[0]!, names.at(-1)!];
    // The first training in the background takes as long as this test wants.
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = 0;
    const columns = Object.getPrototypeOf(loadCore().openColumns({ capacity: 1 })) as NativeColumns;
    const { openFit } = columns;
    t.mock.method(columns, 'openFit', function (this: NativeColumns, ...given: Parameters<typeof openFit>) {
      const fit = openFit.apply(this, given);
      if (!given[0].background) return fit;
      begun += 1;
      const run = fit.run.bind(fit);
      if (begun === 1) fit.run = () => held.then(run);
      return fit;
    });
    for (const name of names) await streams.submit(name, SETTINGS, samples(0, 50));
    await streams.submit(first, SETTINGS, samples(50, 20));
    await until(() => begun > 0);
    for (const name of names.slice(1)) assert.equal((await streams.submit(name, SETTINGS, samples(50, 20))).status, 'retraining');
    await streams.reset(last);
    assert.equal((await streams.get(last)).status, 'collecting');
    // When this answer is there, those before have long asked for their turns.
    for (const name of names.slice(0, 5)) assert.equal((await streams.submit(name, SETTINGS, samples(70, 1))).version, 1);
    assert.equal(begun, 1, 'the others wait while the first one trains');
    release();
    for (const name of names.slice(0, 5)) await until(async () => (await streams.get(name)).version === 2);
    assert.equal((await streams.get(last)).version, 0);
    await streams.close();
  });
});
