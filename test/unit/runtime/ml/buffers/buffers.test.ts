import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Buffers } from '../../../../../runtime/ml/buffers/buffers.js';
import { BUFFER_LIMITS } from '../../../../../runtime/ml/buffers/contract.js';
import { STREAM_LIMITS } from '../../../../../runtime/ml/streams/contract.js';
import { Streams } from '../../../../../runtime/ml/streams/streams.js';
import { openStore, type Store } from '../../../../../runtime/store/store.js';
import { Failure } from '../../../../../schemas/errors.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { STREAM_SETTINGS } from '../../../../support/stream-settings.js';

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};
const signal = new AbortController().signal;

describe('the limits of buffers', () => {
  let store: Store;
  let buffers: Buffers;
  before(async () => {
    store = await openStore(emptyDataDir());
    buffers = new Buffers(store, { buffers: 2, bytesEach: 200_000, bytesTotal: 250_000, liveBytes: 40_000, cells: 1_000 });
  });
  after(async () => {
    await buffers.close();
    await store.close();
  });
  const texts = (count: number, length = 1_000): { t: string }[] =>
    Array.from({ length: count }, (_, index) => ({ t: `${index}`.padStart(length, 'x') }));

  it('of one buffer are told with the figures, and nothing is appended', async () => {
    await buffers.create('a', 10_000);
    await buffers.append('a', texts(100));
    await assert.rejects(
      buffers.append('a', texts(150)),
      failure('too_large', /buffer "a" would take 0\.\d MiB of memory, and 0\.2 MiB are allowed/),
    );
    assert.equal((await buffers.get('a')).size, 100);
  });

  it('of all together too', async () => {
    await buffers.create('b', 100);
    await assert.rejects(buffers.append('b', texts(100, 1_300)), failure('too_large', /all buffers together/));
    await buffers.append('b', texts(60));
  });

  it('count rows that are pushed out as room', async () => {
    for (let round = 0; round < 5; round += 1) await buffers.append('b', texts(60));
    assert.equal((await buffers.get('b')).size, 100);
  });

  it('of their number', async () => {
    await assert.rejects(buffers.create('c', 10), failure('too_large', /There are 2 buffers, and 2 are allowed/));
    await buffers.remove('a');
    await buffers.create('c', 1_000);
  });

  it('of the cells of an answer', async () => {
    await buffers.append(
      'c',
      Array.from({ length: 600 }, (_, x) => ({ x })),
    );
    await assert.rejects(
      buffers.read('c', { features: { windows: [2], statistics: ['mean'] } }, 'application/json', signal),
      failure('too_large', /600 rows of 2 columns are 1200 cells, and an answer holds 1000/),
    );
    const { bytes } = await buffers.read('c', { tail: 500, features: { windows: [2], statistics: ['mean'] } }, 'application/json', signal);
    assert.equal(JSON.parse(Buffer.from(bytes).toString()).rows, 500);
  });

  it('of what reads go on from: the buffers read longest ago let go of it', async () => {
    const memory = async (): Promise<number[]> => Promise.all(['b', 'c'].map(async (name) => (await buffers.get(name)).memoryBytes));
    await buffers.append('b', [{ t: 'x', n: 1 }]);
    const plain = await memory();
    const read = (name: string) => buffers.read(name, { tail: 1, features: { windows: [200] } }, 'application/json', signal);
    const grown = async (): Promise<boolean[]> => (await memory()).map((bytes, at) => bytes > plain[at]!);
    await read('b');
    assert.deepEqual(await grown(), [true, false]);
    await read('c');
    assert.deepEqual(await grown(), [true, true]);
    await read('b');
    await buffers.read('b', { tail: 1, features: { windows: [97, 98, 99] } }, 'application/json', signal);
    assert.deepEqual(await grown(), [true, false]);
  });

  it('of what reads go on from: a cleared buffer holds nothing of it', async () => {
    const store = await openStore(emptyDataDir());
    const three = new Buffers(store, { ...BUFFER_LIMITS, liveBytes: 40_000 });
    const memory = async (name: string): Promise<number> => (await three.get(name)).memoryBytes;
    const read = (name: string) => three.read(name, { tail: 1, features: { windows: [200] } }, 'application/json', signal);
    for (const name of ['first', 'second', 'third']) {
      await three.create(name, 1_000);
      await three.append(name, [{ n: 1 }]);
    }
    const plain = await memory('first');
    await read('first');
    await read('second');
    await three.clear('second');
    await read('third');
    assert.ok((await memory('first')) > plain);
    await three.append('second', [{ n: 1 }]);
    await read('second');
    assert.equal(await memory('first'), plain);
    await three.close();
    await store.close();
  });

  it('kinds of appends under way count, and a failed one leaves none', async () => {
    const outcomes = await Promise.allSettled([
      buffers.append('c', [{ y: 1 }]),
      buffers.append('c', [{ y: 'text' }]),
      buffers.append('c', [{ y: 2.5 }]),
      buffers.append('c', [{ z: 1 }, { z: 'text' }]),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
    await buffers.append('c', [{ z: 'text' }]);
    assert.deepEqual((await buffers.get('c')).columns, ['x', 'y', 'z']);
  });

  it('a deletion waits for appends that were begun, and later ones find nothing', async () => {
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, x) => buffers.append('c', [{ x }])),
      buffers.remove('c'),
      buffers.append('c', [{ x: 1 }]),
    ]);
    assert.equal(outcomes.at(-2)!.status, 'fulfilled');
    assert.ok(outcomes.at(-1)!.status === 'rejected');
    assert.deepEqual(
      (await buffers.list()).map(({ name }) => name),
      ['b'],
    );
    const again = new Buffers(store);
    assert.deepEqual(
      (await again.list()).map(({ name, size }) => [name, size]),
      [['b', 100]],
    );
    await again.close();
  });
});

describe('the limits of streams', () => {
  let store: Store;
  let streams: Streams;
  before(async () => {
    store = await openStore(emptyDataDir());
    streams = new Streams(store, { ...STREAM_LIMITS, detectors: 4, loaded: 2 });
  });
  after(async () => {
    await streams.close();
    await store.close();
  });
  const samples = (count: number): object[] => Array.from({ length: count }, (_, index) => ({ x: Math.sin(index) }));

  it('of detectors in memory: the others go on from the disk', async () => {
    for (let round = 0; round < 3; round += 1)
      for (const name of ['a', 'b', 'c', 'd']) {
        const { version, collected, results } = await streams.submit(name, STREAM_SETTINGS, samples(12));
        assert.deepEqual([version, collected], [1, Math.min(50, 12 * (round + 1))]);
        assert.equal(results.at(-1)!.score === null, false);
      }
    assert.deepEqual(
      (await streams.list()).map(({ name, total }) => [name, total]),
      ['a', 'b', 'c', 'd'].map((name) => [name, 36]),
    );
  });

  it('of their number', async () => {
    await assert.rejects(
      streams.submit('e', STREAM_SETTINGS, samples(1)),
      failure('too_large', /There are 4 streaming detectors, and 4 are allowed/),
    );
    await streams.remove('d');
    await streams.submit('e', STREAM_SETTINGS, samples(1));
  });

  it('requests beside a deletion: a sample is taken before it, refused, or the first of a new detector', async () => {
    const asked = [
      ...Array.from({ length: 10 }, () => streams.submit('a', STREAM_SETTINGS, samples(1))),
      streams.remove('a'),
      ...Array.from({ length: 10 }, () => streams.submit('a', STREAM_SETTINGS, samples(1))),
    ];
    const outcomes = await Promise.allSettled(asked);
    for (const outcome of outcomes) if (outcome.status === 'rejected') assert.ok(failure('not_found', /not found/)(outcome.reason));
    const left = (await streams.list()).find(({ name }) => name === 'a');
    assert.ok(left === undefined || left.total <= 10);
  });

  it('a window that is too much for a training is refused before it is taken', async () => {
    const wide = { ...STREAM_SETTINGS, windowSize: 10_000, rollingWindows: Array.from({ length: 20 }, (_, index) => index + 2) };
    const rows = samples(10).map(() => Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${key}`, key])));
    await assert.rejects(streams.submit('wide', wide, rows), failure('too_large', /a model learns from 4194304 at most/));
    assert.ok(!(await streams.list()).some(({ name }) => name === 'wide'));
  });
});
