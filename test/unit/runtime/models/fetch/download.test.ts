import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { DownloadEvent } from '../../../../../runtime/models/fetch/download.js';
import { etagOf } from '../../../../support/hub-server.js';
import { writeTinyEncoder } from '../../../../support/models/tiny-encoders/tiny-encoders.js';
import { floats, type OnnxTensor, writeOnnx } from '../../../../support/models/writers/onnx-writer.js';
import { until } from '../../../../support/until.js';
import { bytesOf, type HubStage, hubStage } from './stage.js';

const MIB = 1024 * 1024;
/** Larger than one part, so that it comes in two. */
const LARGE = bytesOf(33 * MIB);
const last = (events: readonly DownloadEvent[]): DownloadEvent => events.at(-1)!;

describe('downloading from the hub', () => {
  let stage: HubStage;
  const folder = (repository: string): string => join(stage.cache, `models--${repository.replace('/', '--')}`);
  const snapshot = (repository: string, commit: string, path: string): string => join(folder(repository), 'snapshots', commit, path);
  before(async () => {
    stage = await hubStage();
  });
  after(() => stage.close());
  afterEach(() => {
    stage.server.calm();
    stage.server.pageSize = 1000;
    stage.server.delayMs = 0;
  });

  it('names a cache that cannot be written, and what to do', async () => {
    stage.server.put('org/nowhere', { 'model.gguf': bytesOf(1000) });
    const file = join(stage.cache, 'a-file');
    writeFileSync(file, '');
    const told = last(await stage.pull('org/nowhere', stage.hub({ cache: join(file, 'hub') })));
    assert.ok(told.event === 'error' && told.error === 'CacheNotWritable' && told.status === 503, JSON.stringify(told));
    assert.match(told.message, /a-file.*ENOTDIR.*HF_HUB_CACHE/);
  });

  it('lays the cache out as others do, and tells every step', async () => {
    const { commit } = stage.server.put('org/onnx', {
      'config.json': '{}',
      'onnx/model.onnx': bytesOf(2 * MIB),
      'onnx/model.onnx_data': bytesOf(5 * MIB, 2),
      'onnx/model_int8.onnx': bytesOf(MIB, 3),
      'model.safetensors': bytesOf(MIB, 4),
      '1_Pooling/config.json': '{"word_embedding_dimension":1}',
      'openvino/config.json': '{}',
      'README.md': '# no',
    });
    stage.server.pageSize = 3;
    const events = await stage.pull('org/onnx');
    assert.deepEqual(
      events.filter(({ event }) => event !== 'progress').map((event) => [event.event, 'file' in event ? event.file : '']),
      [
        ['init', ''],
        ...['config.json', 'onnx/model.onnx', 'onnx/model.onnx_data', '1_Pooling/config.json'].flatMap((file) => [
          ['start', file],
          ['end', file],
        ]),
        ['done', ''],
        ['complete', ''],
      ],
    );
    assert.deepEqual(readFileSync(snapshot('org/onnx', commit, 'onnx/model.onnx_data')), bytesOf(5 * MIB, 2));
    assert.match(readlinkSync(snapshot('org/onnx', commit, 'onnx/model.onnx')), /^\.\.\/\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/);
    assert.match(readlinkSync(snapshot('org/onnx', commit, 'config.json')), /^\.\.\/\.\.\/blobs\/[0-9a-f]{40}$/);
    assert.equal(readFileSync(join(folder('org/onnx'), 'refs', 'main'), 'utf8'), commit);
    assert.deepEqual(
      readdirSync(join(folder('org/onnx'), 'blobs')).filter((name) => name.includes('quern')),
      [],
    );
    const again = await stage.pull('org/onnx');
    assert.deepEqual(
      again.map(({ event }) => event),
      ['init', 'cached', 'cached', 'cached', 'cached', 'done', 'complete'],
    );
  });

  it('fetches parts over several connections and says how fast', async () => {
    stage.server.put('org/large', { 'model-Q4_K_M.gguf': LARGE, 'model-Q8_0.gguf': bytesOf(MIB) });
    stage.server.delayMs = 2;
    const events = await stage.pull('org/large');
    const ranges = stage.server.seen.filter(({ server, path }) => server === 'store' && path.includes('Q4_K_M')).map(({ range }) => range);
    assert.deepEqual(ranges.sort(), [`bytes=0-${32 * MIB - 1}`, `bytes=${32 * MIB}-${33 * MIB - 1}`]);
    assert.ok(events.some((event) => event.event === 'progress' && event.bytes_per_sec > 0 && event.eta_seconds !== null));
    assert.equal(stage.server.seen.filter(({ path }) => path.includes('Q8_0')).length, 0);
    assert.ok(events.some((event) => event.event === 'progress' && event.percent === 100));
  });

  const passing: [string, () => void, Parameters<HubStage['hub']>[0]?][] = [
    ['a store in trouble', () => stage.server.mischief('model.gguf', { kind: 'status', status: 503 }, 2)],
    ['too many requests', () => stage.server.mischief('model.gguf', { kind: 'status', status: 429, headers: { 'retry-after': '0' } })],
    ['a listing in trouble', () => stage.server.mischief('listing', { kind: 'status', status: 500 }, 2)],
    ['a broken connection', () => stage.server.mischief('model.gguf', { kind: 'cut', after: MIB }, 3)],
    ['a stall at 99 %', () => stage.server.mischief('model.gguf', { kind: 'stall', after: Math.floor(1.98 * MIB) }), { stallMs: 500 }],
    ['a flipped bit', () => stage.server.mischief('model.gguf', { kind: 'flip', at: MIB })],
    ['an answer of another size', () => stage.server.mischief('model.gguf', { kind: 'resize', bytes: 3 * MIB })],
    ['a file that is another for a while', () => stage.server.mischief('model.gguf', { kind: 'etag', etag: 'f'.repeat(64) })],
    [
      'a server without ranges, after a break',
      () => {
        stage.server.mischief('model.gguf', { kind: 'cut', after: MIB });
        stage.server.mischief('model.gguf', { kind: 'no-ranges' }, 9);
      },
    ],
  ];
  for (const [index, [what, arrange, settings]] of passing.entries()) {
    it(`gets over ${what}`, async () => {
      const { commit } = stage.server.put(`org/passing-${index}`, { 'model.gguf': bytesOf(2 * MIB, index + 10) });
      arrange();
      const events = await stage.pull(`org/passing-${index}`, stage.hub(settings));
      assert.equal(last(events).event, 'complete', JSON.stringify(last(events)));
      assert.deepEqual(readFileSync(snapshot(`org/passing-${index}`, commit, 'model.gguf')), bytesOf(2 * MIB, index + 10));
    });
  }

  it('asks only for what is missing after a broken connection', async () => {
    stage.server.put('org/on', { 'model.gguf': bytesOf(2 * MIB) });
    stage.server.mischief('model.gguf', { kind: 'cut', after: MIB });
    await stage.pull('org/on');
    const ranges = stage.server.seen
      .filter(({ server, path }) => server === 'store' && path.includes('org%2Fon/'))
      .map(({ range }) => range);
    assert.deepEqual(ranges, [undefined, `bytes=${MIB}-${2 * MIB - 1}`]);
  });

  const lasting: [string, RegExp, number, () => void][] = [
    ['bits that always flip', /damaged 3 times/, 503, () => stage.server.mischief('model.gguf', { kind: 'flip', at: 5 }, 99)],
    ['a wrong size', /bytes, not/, 503, () => stage.server.mischief('model.gguf', { kind: 'resize', bytes: 9 }, 99)],
    ['another file', /in the listing/, 503, () => stage.server.mischief('model.gguf', { kind: 'etag', etag: 'e'.repeat(64) }, 99)],
    [
      'a store that stays in trouble',
      /in trouble \(502\)/,
      503,
      () => stage.server.mischief('model.gguf', { kind: 'status', status: 502 }, 99),
    ],
    ['a file that is forbidden', /gated|refuses/, 403, () => stage.server.mischief('model.gguf', { kind: 'status', status: 403 }, 99)],
  ];
  for (const [index, [what, message, status, arrange]] of lasting.entries()) {
    it(`gives up on ${what}, and shows nothing`, async () => {
      const { commit, files } = stage.server.put(`org/lasting-${index}`, { 'model.gguf': bytesOf(MIB, index + 30) });
      arrange();
      const event = last(await stage.pull(`org/lasting-${index}`));
      assert.ok(event.event === 'error' && event.status === status, JSON.stringify(event));
      assert.match(event.message, message);
      assert.ok(!existsSync(snapshot(`org/lasting-${index}`, commit, 'model.gguf')));
      assert.ok(!existsSync(join(folder(`org/lasting-${index}`), 'blobs', etagOf(files.get('model.gguf')!))));
    });
  }

  it('gives up at once where the store asks for a longer pause than somebody would wait for, and says that what came is kept', async () => {
    stage.server.put('org/long', { 'model.gguf': bytesOf(MIB, 60) });
    stage.server.mischief('model.gguf', { kind: 'status', status: 429, headers: { 'retry-after': '900' } });
    const event = last(await stage.pull('org/long'));
    assert.ok(event.event === 'error' && event.error === 'HubBusy', JSON.stringify(event));
    assert.match(event.message, /try again in 900 s\. What has come is kept/);
  });

  it('tells of a long pause, once for all connections of a file', async () => {
    stage.server.put('org/paused', { 'model.gguf': LARGE });
    stage.server.mischief('model.gguf', { kind: 'status', status: 429, headers: { 'retry-after': '60' } }, 2);
    const [hub, stop] = [stage.hub(), new AbortController()];
    const events: DownloadEvent[] = [];
    for await (const event of hub.download(await hub.plan('org/paused', stop.signal), stop.signal)) {
      events.push(event);
      if (event.event === 'warning') stop.abort();
    }
    const told = events.flatMap((event) => (event.event === 'warning' ? [event.message] : []));
    assert.equal(told.length, 1);
    assert.match(told[0]!, /^model\.gguf waits 60 s .* too many requests \(429\)/);
  });

  it('fetches what is damaged in size again', async () => {
    const { files } = stage.server.put('org/short', { 'model.gguf': bytesOf(MIB, 77) });
    await stage.pull('org/short');
    const blob = join(folder('org/short'), 'blobs', etagOf(files.get('model.gguf')!));
    writeFileSync(blob, 'short');
    assert.equal(last(await stage.pull('org/short')).event, 'complete');
    assert.deepEqual(readFileSync(blob), bytesOf(MIB, 77));
  });

  it('is one download for all who ask for the same', async () => {
    stage.server.put('org/shared', { 'model.gguf': bytesOf(6 * MIB) });
    stage.server.delayMs = 10;
    const hub = stage.hub();
    const [one, two] = await Promise.all([stage.pull('org/shared', hub), stage.pull('org/shared', hub)]);
    assert.deepEqual([last(one).event, last(two).event], ['complete', 'complete']);
    for (const events of [one, two])
      assert.ok(events.some((event) => event.event === 'progress' && event.percent > 0 && event.percent < 100));
    assert.equal(stage.server.seen.filter(({ server, path }) => server === 'store' && path.includes('shared')).length, 1);
  });

  it('goes on while one of two stays, stops when both have gone, and goes on later where it was', async () => {
    stage.server.put('org/left', { 'model.gguf': bytesOf(4 * MIB) });
    // It goes no further until it is asked for again.
    stage.server.mischief('model.gguf', { kind: 'stall', after: 2 * MIB });
    const hub = stage.hub();
    const asked = (): SeenOf => stage.server.seen.filter(({ server, path }) => server === 'store' && path.includes('left'));
    type SeenOf = typeof stage.server.seen;
    const [first, second] = [new AbortController(), new AbortController()];
    const one = stage.pull('org/left', hub, first.signal);
    let bytes = 0;
    const two = stage.pull('org/left', hub, second.signal, (event) => {
      if (event.event === 'progress') bytes = event.downloaded;
    });
    await until(() => asked().length > 0);
    first.abort();
    assert.notEqual(last(await one).event, 'complete');
    assert.deepEqual(hub.active, ['org/left']);
    await until(() => bytes > 0, 'the download goes on');
    second.abort();
    assert.notEqual(last(await two).event, 'complete');
    await until(() => hub.active.length === 0);
    assert.equal(last(await stage.pull('org/left', hub)).event, 'complete');
    assert.equal(asked().length, 2);
    assert.match(asked()[1]!.range ?? '', /^bytes=[1-9]/);
  });

  it('begins when the removal of the same model has ended', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`tokens-${at}.json`, `{"at":${at}}`]));
    const { commit } = stage.server.put('org/again', { 'config.json': '{}', 'onnx/model.onnx': bytesOf(MIB), ...files });
    const hub = stage.hub();
    await stage.pull('org/again', hub);
    for (let round = 0; round < 20; round += 1) {
      const plan = await hub.plan('org/again', new AbortController().signal);
      const removals = [hub.remove('org/again', () => []), hub.remove('org/again', () => [])];
      const events: DownloadEvent[] = [];
      const download = (async () => {
        for await (const event of hub.download(plan, new AbortController().signal)) events.push(event);
      })();
      const [first, second] = await Promise.allSettled(removals);
      await download;
      assert.deepEqual(
        [first?.status, second?.status, last(events).event],
        ['fulfilled', 'rejected', 'complete'],
        JSON.stringify(last(events)),
      );
      assert.ok(!events.some(({ event }) => event === 'cached'), 'nothing that is being removed counts');
      assert.deepEqual(readFileSync(snapshot('org/again', commit, 'onnx/model.onnx')), bytesOf(MIB));
    }
  });

  it('does not begin behind a removal when it was given up or the hub was closed meanwhile', async () => {
    stage.server.put('org/late', { 'model.gguf': bytesOf(MIB) });
    const hub = stage.hub();
    await stage.pull('org/late', hub);
    const plan = await hub.plan('org/late', new AbortController().signal);
    const late = async (signal: AbortSignal): Promise<DownloadEvent[]> => {
      const events: DownloadEvent[] = [];
      for await (const event of hub.download(plan, signal)) events.push(event);
      return events;
    };
    const given = new AbortController();
    const removal = hub.remove('org/late', () => []);
    const [up, closed] = [late(given.signal), late(new AbortController().signal)];
    given.abort();
    const close = hub.close();
    assert.deepEqual(await up, []);
    await Promise.all([assert.rejects(closed, { kind: 'unavailable' }), removal, close]);
    assert.ok(!existsSync(folder('org/late')), 'what was removed stays away');
  });

  it('takes a model from the repository that stands in for it', async () => {
    stage.server.put('dslim/bert-base-NER', { 'model.safetensors': bytesOf(MIB), 'config.json': '{}' });
    stage.server.put('Xenova/bert-base-NER', { 'onnx/model.onnx': bytesOf(MIB), 'config.json': '{}' });
    const events = await stage.pull('dslim/bert-base-NER');
    assert.deepEqual([events[0]?.event, last(events)], ['warning', { event: 'complete', model_name: 'dslim/bert-base-NER' }]);
    assert.ok(existsSync(folder('Xenova/bert-base-NER')) && !existsSync(folder('dslim/bert-base-NER')));
  });

  it('keeps what is being downloaded in the place of a model', async () => {
    stage.server.put('dslim/bert-base-NER', { 'model.safetensors': bytesOf(MIB), 'config.json': '{}' });
    stage.server.put('Xenova/bert-base-NER', { 'onnx/model.onnx': bytesOf(4 * MIB, 5), 'config.json': '{}' });
    stage.server.delayMs = 10;
    const [hub, stop] = [stage.hub(), new AbortController()];
    const download = stage.pull('dslim/bert-base-NER', hub, stop.signal);
    await until(() => hub.active.length > 0);
    await assert.rejects(
      hub.remove('dslim/bert-base-NER', () => []),
      { kind: 'conflict', message: /being downloaded/ },
    );
    stop.abort();
    await download;
    await until(() => hub.active.length === 0);
    await hub.remove('dslim/bert-base-NER', () => []);
    assert.ok(!existsSync(folder('Xenova/bert-base-NER')));
  });

  it('fetches the weights that a graph names, whatever they are called, and nothing outside its folder', async () => {
    const weights = (name: string, location: string): OnnxTensor => ({
      ...floats(name, [2], [0, 0]),
      external: { location, offset: '0', length: '8' },
    });
    const graph = (...initializers: OnnxTensor[]): Buffer => Buffer.from(writeOnnx({ nodes: [], initializers, inputs: [], outputs: [] }));
    const { commit } = stage.server.put('org/named', {
      'onnx/model.onnx': graph(weights('a', 'layers.bin'), weights('b', 'deep/rest.weights')),
      'onnx/layers.bin': bytesOf(2048, 70),
      'onnx/deep/rest.weights': bytesOf(2048, 71),
      'onnx/unrelated.bin': bytesOf(2048, 72),
    });
    await stage.pull('org/named');
    assert.deepEqual(readFileSync(snapshot('org/named', commit, 'onnx/layers.bin')), bytesOf(2048, 70));
    assert.deepEqual(readFileSync(snapshot('org/named', commit, 'onnx/deep/rest.weights')), bytesOf(2048, 71));
    assert.equal(existsSync(snapshot('org/named', commit, 'onnx/unrelated.bin')), false);
    const out = stage.server.put('org/outside', {
      'onnx/model.onnx': graph(weights('a', '../secret.bin')),
      'secret.bin': bytesOf(2048, 73),
    });
    await stage.pull('org/outside');
    assert.equal(existsSync(snapshot('org/outside', out.commit, 'secret.bin')), false);
  });

  it('adopts what another program has put into the cache', async () => {
    const { commit, files } = stage.server.put('org/adopted', { 'a-Q8_0.gguf': bytesOf(MIB, 50), 'a-Q2_K.gguf': bytesOf(2048) });
    await stage.pull('org/adopted:Q2_K');
    writeFileSync(join(folder('org/adopted'), 'blobs', etagOf(files.get('a-Q8_0.gguf')!)), bytesOf(MIB, 50));
    assert.deepEqual(
      (await stage.pull('org/adopted:Q8_0')).map(({ event }) => event),
      ['init', 'cached', 'done', 'complete'],
    );
    assert.deepEqual(readFileSync(snapshot('org/adopted', commit, 'a-Q8_0.gguf')), bytesOf(MIB, 50));
    assert.equal(stage.server.seen.filter(({ path }) => path.includes('a-Q8_0')).length, 0);
  });

  it('takes what is whole in the cache where the hub is offline or does not answer', async () => {
    const silent: [string, Parameters<HubStage['hub']>[0]][] = [
      ['offline', { offline: true }],
      ['gone', { endpoint: 'http://127.0.0.1:9', pauseMs: 1 }],
    ];
    writeTinyEncoder(join(stage.cache, 'made'), { task: 'embedding' });
    writeTinyEncoder(join(stage.cache, 'pooling'), { task: 'embedding', sentenceOutput: true });
    const made = (path: string): Buffer => readFileSync(join(stage.cache, 'made', path));
    stage.server.put('org/kept', { 'a-Q8_0.gguf': bytesOf(2048, 60), 'a-Q2_K.gguf': bytesOf(1024) });
    stage.server.put('org/graph', { 'onnx/model.onnx': made('onnx/model.onnx'), 'tokenizer.json': made('tokenizer.json') });
    stage.server.put('org/parts', { 'b-Q8_0-00001-of-00002.gguf': bytesOf(64), 'b-Q8_0-00002-of-00002.gguf': bytesOf(64, 2) });
    const sentences = {
      'onnx/model.onnx': made('onnx/model.onnx'),
      'modules.json': '[{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]',
    };
    stage.server.put('org/dense', { ...sentences, '2_Dense/model.safetensors': bytesOf(64, 3) });
    stage.server.put('org/half-dense', sentences);
    stage.server.put('org/pooling', { ...sentences, 'onnx/model.onnx': readFileSync(join(stage.cache, 'pooling/onnx/model.onnx')) });
    stage.server.put('org/strange', { ...sentences, 'modules.json': 'not JSON' });
    stage.server.put('org/upward', { ...sentences, 'modules.json': '[{"path": "../x", "type": "m.Dense"}]' });
    for (const name of [
      'org/kept:Q8_0',
      'org/graph',
      'org/parts',
      'org/dense',
      'org/half-dense',
      'org/pooling',
      'org/strange',
      'org/upward',
    ])
      await stage.pull(name);
    const [part] = readdirSync(join(folder('org/parts'), 'snapshots')).map((commit) =>
      snapshot('org/parts', commit, 'b-Q8_0-00002-of-00002.gguf'),
    );
    rmSync(part!);
    for (const [what, settings] of silent) {
      const hub = stage.hub(settings);
      for (const [name, files] of [
        ['org/kept:Q8_0', 1],
        ['org/kept', 1],
        ['org/graph', 2],
        ['org/dense', 3],
        ['org/pooling', 2],
        ['org/strange', 2],
        ['org/upward', 2],
      ] as const) {
        const events = await stage.pull(name, hub);
        assert.deepEqual(
          events.map(({ event }) => event),
          ['warning', 'init', ...Array<string>(files).fill('cached'), 'done', 'complete'],
          `${name} ${what}`,
        );
      }
      for (const name of ['org/kept:Q2_K', 'org/parts', 'org/half-dense', 'org/absent'])
        await assert.rejects(stage.pull(name, hub), { kind: 'unavailable' }, `${name} ${what}`);
    }
    assert.match(readFileSync(join(folder('org/kept'), 'refs', 'main'), 'utf8'), /^[0-9a-f]{40}$/);
  });
});
