import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { NativeColumns } from '../../../../../native/contract.js';
import { loadCore } from '../../../../../native/loader.js';
import { RETRY_SAMPLES } from '../../../../../runtime/ml/streams/cold-start.js';
import { Streams } from '../../../../../runtime/ml/streams/streams.js';
import { type Batch, openStore, type Store } from '../../../../../runtime/store/store.js';
import { Failure } from '../../../../../schemas/errors.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { STREAM_SETTINGS } from '../../../../support/stream-settings.js';
import { until } from '../../../../support/until.js';

const SETTINGS = { ...STREAM_SETTINGS, minSamples: 20, retrainInterval: 20 };
const samples = (from: number, count: number): { a: number }[] => Array.from({ length: count }, (_, at) => ({ a: Math.sin(from + at) }));
const refused = (): never => {
  throw new Failure('bad_request', 'These rows cannot be learned.');
};
const full = (): never => {
  throw new Failure('disk_full', 'The disk is full.');
};

describe('trainings of streams that fail', () => {
  let folder: string;
  let store: Store;
  let streams: Streams;
  let lines: string[];
  /** Called before a write that puts a model; throws what the disk would. */
  let atModel: (batch: Batch) => void;

  beforeEach(async () => {
    folder = emptyDataDir();
    store = await openStore(folder);
    streams = new Streams(store);
    lines = [];
    atModel = () => undefined;
    mock.method(process.stderr, 'write', (line: string) => lines.push(line) > 0);
    const write = store.write.bind(store);
    store.write = (fill, chain) =>
      write(async (batch) => {
        await fill(batch);
        if (batch.changes.some(({ table, value }) => table === 'detectorModels' && value)) atModel(batch);
      }, chain);
  });
  afterEach(async () => {
    mock.restoreAll();
    await streams.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const submit = (from: number, count: number, settings = SETTINGS) => streams.submit('s', settings, samples(from, count));
  const stats = async () => {
    const { status, version, failures, lastError } = await streams.get('s');
    return { status, version, failures, lastError };
  };
  /** Whether each sample has a score. */
  const scored = ({ results }: Awaited<ReturnType<typeof submit>>): boolean[] => results.map(({ score }) => score !== null);
  const reopened = async (): Promise<void> => {
    await streams.close();
    streams = new Streams(store);
  };

  it('a first one is refused for its rows, tried again every few samples, and works when other rows have come', async () => {
    // The deviation of these two is beyond the numbers that detectors take.
    const settings = { ...SETTINGS, rollingWindows: [2] };
    const odd = (count: number) =>
      streams.submit(
        's',
        settings,
        Array.from({ length: count }, (_, at) => ({ a: at % 2 === 0 ? 1e100 : -1e100 })),
      );
    const first = await odd(settings.minSamples);
    assert.deepEqual([first.status, scored(first).includes(true)], ['collecting', false]);
    const { lastError, ...rest } = await stats();
    assert.deepEqual(rest, { status: 'collecting', version: 0, failures: 1 });
    assert.match(lastError!, /allowed are finite numbers from -1e100 to 1e100/);
    assert.ok(lines.some((line) => /warn the training of detector s failed/.test(line)));
    await odd(RETRY_SAMPLES - 1);
    assert.equal((await stats()).failures, 1);
    await odd(1);
    assert.equal((await stats()).failures, 2);
    // One request with an attempt in its middle: all that follows is collected.
    assert.equal((await submit(0, RETRY_SAMPLES + 5, settings)).status, 'collecting');
    assert.equal((await stats()).failures, 3);
    let sent = RETRY_SAMPLES + 5;
    for (; (await stats()).version === 0; sent += 1) {
      assert.ok(sent < settings.windowSize + 2 * RETRY_SAMPLES, 'no training came');
      await submit(sent, 1, settings);
    }
    const { lastError: none, failures } = await stats();
    assert.equal(none, null);
    assert.deepEqual(scored(await submit(sent, 3, settings)), [true, true, true]);
    await reopened();
    assert.deepEqual([(await submit(sent, 1, settings)).version, (await stats()).failures], [1, failures]);
  });

  for (const [what, fails, shown] of [
    ['refuses the rows', refused, 'These rows cannot be learned.'],
    ['breaks', () => JSON.parse('{'), 'The training failed; see the log.'],
  ] as const)
    it(`one in the background that ${what} leaves the old model scoring, says so, and a later one works`, async () => {
      await submit(0, 20);
      const [probe] = (await submit(20, 1)).results;
      const fit = mock.method(Object.getPrototypeOf(loadCore().openColumns({ capacity: 1 })) as NativeColumns, 'openFit', fails);
      await submit(21, 19);
      await until(async () => (await stats()).failures === 1);
      assert.deepEqual(await stats(), { status: 'ready', version: 1, failures: 1, lastError: shown });
      assert.ok(lines.some((line) => /warn the training of detector s failed/.test(line)));
      assert.equal((await submit(20, 1)).results[0]!.score, probe!.score);
      // The next attempt comes after as many samples again, not with every sample.
      assert.deepEqual(scored(await submit(40, 18)), Array(18).fill(true));
      assert.equal(fit.mock.callCount(), 1);
      fit.mock.restore();
      await submit(58, 1);
      await until(async () => (await stats()).version === 2);
      assert.deepEqual(await stats(), { status: 'ready', version: 2, failures: 1, lastError: null });
      assert.ok(scored(await submit(60, 5)).every(Boolean));
    });

  it('a first model for which there is no room refuses its samples; they are taken when there is', async () => {
    await submit(0, 15);
    atModel = full;
    await assert.rejects(submit(15, 10), { kind: 'disk_full' });
    assert.deepEqual(await stats(), { status: 'collecting', version: 0, failures: 0, lastError: null });
    assert.equal((await submit(15, 4)).untilReady, 1);
    await assert.rejects(submit(19, 1), { kind: 'disk_full' });
    atModel = () => undefined;
    assert.equal((await submit(19, 1)).version, 1);
    await reopened();
    assert.deepEqual(scored(await submit(20, 1)), [true]);
  });

  it('a later model for which there is no room waits for the next samples, which are scored', async () => {
    await submit(0, 20);
    let failed = 0;
    atModel = () => {
      failed += 1;
      full();
    };
    await submit(20, 20);
    await until(() => failed > 0);
    await until(() => lines.some((line) => /warn the new model of detector s could not be written/.test(line)));
    atModel = () => undefined;
    const answer = await submit(40, 1);
    assert.deepEqual([failed, answer.version, ...scored(answer)], [1, 2, true]);
    await reopened();
    const again = await submit(40, 1);
    assert.deepEqual([again.version, again.results[0]!.score], [2, answer.results[0]!.score]);
  });

  it('samples that cannot be kept with a new model are refused, the old model goes on, and a later training works', async () => {
    await submit(0, 20);
    const [probe] = (await submit(20, 1)).results;
    atModel = full;
    await submit(21, 19);
    await until(async () => (await stats()).version === 2);
    await assert.rejects(submit(40, 1), { kind: 'disk_full' });
    atModel = () => undefined;
    const again = await submit(20, 1);
    assert.deepEqual([again.version, again.results[0]!.score], [1, probe!.score]);
    await until(async () => (await stats()).version === 2);
    await reopened();
    assert.equal((await streams.get('s')).total, 41);
  });

  it('samples behind those that could not be kept with a new model do not count those', async () => {
    await submit(0, 20);
    await submit(20, 1);
    atModel = full;
    await submit(21, 19);
    await until(() => lines.some((line) => /warn the new model of detector s could not be written/.test(line)));
    // Fails where the disk is written, while the next samples wait: so long a key is none.
    atModel = (batch) => batch.put('detectorModels', 'x'.repeat(5000), store.detectorModels.get('s')!);
    const both = await Promise.allSettled([submit(40, 1), submit(41, 1)]);
    assert.equal(both[0].status, 'rejected');
    atModel = () => undefined;
    await reopened();
    assert.equal((await streams.get('s')).total, 40 + Number(both[1].status === 'fulfilled'));
  });

  it('a detector that is reset while its model cannot be written forgets that model', async () => {
    await submit(0, 20);
    atModel = full;
    await submit(20, 20);
    await until(async () => (await stats()).version === 2);
    await streams.reset('s');
    atModel = () => undefined;
    assert.equal((await submit(0, 10)).version, 0);
    assert.equal(store.detectorModels.get('s'), undefined);
  });
});
