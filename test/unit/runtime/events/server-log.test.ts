import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Events } from '../../../../runtime/events/events.js';
import { recordWork, SERVER_LOG } from '../../../../runtime/events/recording.js';
import { AnomalyDetectors } from '../../../../runtime/ml/anomaly/detectors.js';
import { Classifiers } from '../../../../runtime/ml/classifiers/classifiers.js';
import { Streams } from '../../../../runtime/ml/streams/streams.js';
import { Hub } from '../../../../runtime/models/fetch/hub.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import { Failure } from '../../../../schemas/errors.js';
import type { EventRecord } from '../../../../schemas/generated/core/events.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { HubServer } from '../../../support/hub-server.js';
import { STREAM_SETTINGS } from '../../../support/stream-settings.js';

const { signal } = new AbortController();

describe('the log of the server', () => {
  const dataDir = emptyDataDir();
  let store: Store;
  let events: Events;

  before(async () => {
    store = await openStore(dataDir);
    const load = (namespace: string): never => {
      throw new Failure('not_found', `no project ${namespace}`);
    };
    events = new Events({ store, projects: { load } });
  });
  after(async () => {
    await events.close();
    await store.close();
  });

  const list = (query: object = {}) => events.list(SERVER_LOG.namespace, SERVER_LOG.name, { limit: 10, offset: 0, ...query });
  const newest = async (): Promise<EventRecord> =>
    events.get(SERVER_LOG.namespace, SERVER_LOG.name, (await list({ limit: 1 })).events[0]!.event_id);

  it('keeps the outcome of work, and why it failed', async () => {
    const about = { type: 'mcp_call', model: 'm', data: { server: 's' }, content: { arguments: { a: 1 } } } as const;
    assert.equal(
      await recordWork(
        undefined,
        about,
        async () => 1,
        () => ({}),
      ),
      1,
    );
    assert.equal((await list()).total, 0);
    assert.equal(
      await recordWork(
        events,
        about,
        async () => 2,
        (result) => ({ data: { result } }),
      ),
      2,
    );
    const done = await newest();
    assert.deepEqual([done.status, done.data.server, done.data.arguments, done.data.result], ['completed', 's', { a: 1 }, 2]);
    assert.deepEqual([done.namespace, done.project, done.type], ['', '', 'mcp_call']);
    const failing = recordWork(
      events,
      about,
      () => Promise.reject(new Failure('busy', 'Too much.')),
      () => ({}),
    );
    await assert.rejects(failing, { kind: 'busy' });
    const failed = await newest();
    assert.deepEqual([failed.status, failed.error, failed.metadata.code, failed.data.server], ['failed', 'Too much.', 'busy', 's']);
    await assert.rejects(
      recordWork(
        events,
        about,
        async () => Promise.reject(new Error('secret path')),
        () => ({}),
      ),
    );
    assert.match((await newest()).error!, /its log has the cause/);
    await assert.rejects(
      recordWork(
        events,
        about,
        async () => AbortSignal.abort().throwIfAborted(),
        () => ({}),
      ),
    );
    assert.equal((await newest()).error, 'It was cancelled.');
    assert.equal((await list({ type: 'mcp_call', model: 'm' })).total, 4);
    await assert.rejects(events.get('', '', 'evt_none'), /Event 'evt_none' not found in the log of the server/);
  });

  it('keeps the fits of detectors and classifiers and the trainings of streams', async () => {
    const detectors = new AnomalyDetectors(join(dataDir, 'anomaly'), events);
    const ask = { backend: 'hbos', normalization: 'raw', contamination: 0.1, epochs: 1, batchSize: 1, overwrite: true } as const;
    await detectors.fit({ ...ask, model: 'rows', data: [[1], [2], [3]] }, signal);
    const anomaly = await newest();
    assert.deepEqual([anomaly.type, anomaly.data.kind, anomaly.data.model, anomaly.data.samples_fitted], ['fit', 'anomaly', 'rows', 3]);
    await assert.rejects(detectors.fit({ ...ask, model: 'rows', data: [[1]] }, signal));
    assert.match((await newest()).error!, /at least 2/);
    const encoders = {
      embed: async (_: unknown, texts: string[]) => ({ vectors: texts.map((text) => Float32Array.of(1, text < 'm' ? 1 : -1)), tokens: 0 }),
    };
    const classifiers = new Classifiers(join(dataDir, 'classifier'), encoders as never, events);
    const examples = ['a', 'b', 'x', 'y'].map((text) => ({ text, label: text < 'm' ? 'low' : 'high' }));
    await classifiers.fit({ model: 'words', baseModel: 'any', examples, iterations: 1, batchSize: 1, seed: 1, overwrite: true }, signal);
    const classifier = await newest();
    assert.deepEqual([classifier.data.kind, classifier.data.num_classes, classifier.data.samples_fitted], ['classifier', 2, 4]);
    const streams = new Streams(store, undefined, events);
    await streams.submit(
      'sensor',
      { ...STREAM_SETTINGS, minSamples: 20 },
      Array.from({ length: 20 }, (_, at) => ({ a: Math.sin(at) })),
    );
    const stream = await newest();
    assert.deepEqual(
      [stream.data.kind, stream.data.model, stream.data.background, stream.data.samples_fitted],
      ['stream', 'sensor', false, 20],
    );
    await streams.close();
  });

  it('keeps downloads', async () => {
    const server = await HubServer.start();
    const outbound = new Outbound();
    const settings = {
      endpoint: server.url,
      token: null,
      offline: false,
      cache: join(dataDir, 'hub'),
      stallMs: 60_000,
      connections: 3,
      pauseMs: 5,
      proxies: () => null,
    };
    const hub = new Hub(outbound, settings, events);
    server.put('org/model', { 'config.json': '{}', 'onnx/model.onnx': Buffer.alloc(5000, 1) });
    const plan = await hub.plan('org/model', signal);
    for await (const _ of hub.download(plan, signal));
    const whole = await newest();
    assert.deepEqual(
      [whole.type, whole.status, whole.data.model, whole.data.repository],
      ['download', 'completed', 'org/model', 'org/model'],
    );
    assert.deepEqual(
      whole.sub_events.map(({ event_name: name, data }) => [name, data.size]),
      [
        ['file_downloaded', 2],
        ['file_downloaded', 5000],
      ],
    );
    for await (const _ of hub.download(await hub.plan('org/model', signal), signal)) break;
    assert.match((await newest()).error!, /The client left/);
    await hub.close();
    await outbound.close();
    await server.close();
  });
});
