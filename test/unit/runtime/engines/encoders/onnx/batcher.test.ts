import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Batcher, padded, paddedLength, RAGGED, type Row } from '../../../../../../runtime/engines/encoders/onnx/batcher.js';
import { askInSlices } from '../../../../../../runtime/engines/encoders/request-slices.js';

const never = new AbortController().signal;
const row = (tokens: number, take: Row<number>['take'] = () => {}): Row<number> => ({
  ids: Array(tokens).fill(1),
  types: Array(tokens).fill(0),
  take,
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('batcher', () => {
  it('tells what a batch will take, once it knows the speed', async () => {
    const expected: (number | undefined)[] = [];
    const batcher = new Batcher<number>(RAGGED, async (_rows, _length, expectedMs) => {
      expected.push(expectedMs);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 0;
    });
    await batcher.submit([row(10)], 'bulk', never);
    await batcher.submit([row(30), row(10)], 'bulk', never);
    assert.equal(expected[0], undefined);
    // Timers may be a millisecond early.
    assert.ok(expected[1]! >= 4 * 19, String(expected));
  });

  it('pads to few lengths, never by more than an eighth beyond the smallest step', () => {
    const lengths = new Set<number>();
    for (let tokens = 1; tokens <= 512; tokens += 1) {
      const padded = paddedLength(tokens);
      assert.ok(padded >= tokens && padded - tokens <= Math.max(7, tokens / 4), `${tokens} -> ${padded}`);
      lengths.add(padded);
    }
    assert.ok(lengths.size <= 24, `${lengths.size} lengths`);
  });

  it('puts rows of like length together and gives each its own place', async () => {
    const batches: number[][] = [];
    const seen: string[] = [];
    const batcher = new Batcher<number>(padded(512), async (rows) => batches.push(rows.map(({ ids }) => ids.length)));
    const rows = [5, 300, 6, 290, 7].map((tokens) => row(tokens, (batch, index) => void seen.push(`${tokens}:${batch}.${index}`)));
    await batcher.submit(rows, 'bulk', never);
    assert.deepEqual(batches, [
      [5, 6, 7],
      [300, 290],
    ]);
    assert.deepEqual(seen, ['5:1.0', '6:1.1', '7:1.2', '300:2.0', '290:2.1']);
  });

  it('fills batches of rows that are not padded with what comes first, by their own tokens', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number>(RAGGED, async (rows) => batches.push(rows.map(({ ids }) => ids.length)));
    await batcher.submit(
      [5, 300, 6, 290, 7].map((tokens) => row(tokens)),
      'bulk',
      never,
    );
    // 512 tokens until the speed is known, and never fewer than 256.
    assert.deepEqual(batches[0], [5, 300, 6]);
    assert.deepEqual(batches.flat(), [5, 300, 6, 290, 7]);
  });

  it('lets interactive rows pass bulk ones between two batches', async () => {
    const order: number[] = [];
    let late: Promise<void> | undefined;
    const batcher = new Batcher<number>(padded(512), async (rows) => {
      order.push(rows[0]!.ids.length);
      late ??= batcher.submit([row(20)], 'interactive', never);
      return 0;
    });
    await batcher.submit([row(400), row(410), row(420)], 'bulk', never);
    await late;
    assert.deepEqual(order, [400, 20, 410]);
  });

  it('runs nothing more for a call that was aborted, and goes on with others', async () => {
    const stop = new AbortController();
    const order: number[] = [];
    const batcher = new Batcher<number>(padded(512), async (rows) => {
      order.push(rows[0]!.ids.length);
      stop.abort(new Error('gone'));
      await turn();
      return 0;
    });
    const gone = batcher.submit([row(400), row(410), row(420)], 'bulk', stop.signal);
    const stays = batcher.submit([row(100)], 'bulk', never);
    await assert.rejects(gone, /gone/);
    await stays;
    assert.deepEqual(order, [400, 100]);
    assert.throws(() => batcher.submit([row(1)], 'bulk', stop.signal), /gone/);
  });

  it('fails the calls of a failed batch, and only a row that cannot be read', async () => {
    let failing = true;
    const batcher = new Batcher<number>(padded(512), async () => {
      if (failing) throw new Error('no memory');
      return 0;
    });
    await assert.rejects(batcher.submit([row(10)], 'bulk', never), /no memory/);
    failing = false;
    const bad = batcher.submit([row(10, () => assert.fail('not finite'))], 'bulk', never);
    const good = batcher.submit([row(10)], 'bulk', never);
    await assert.rejects(bad, /not finite/);
    await good;
  });
});

describe('slices', () => {
  it('asks for all in order, a few at once', async () => {
    let open = 0;
    let most = 0;
    const texts = Array.from({ length: 1000 }, (_, index) => String(index));
    const replies = await askInSlices(texts, never, async (from, to) => {
      open += 1;
      most = Math.max(most, open);
      await turn();
      open -= 1;
      return texts.slice(from, to);
    });
    assert.deepEqual(replies.flat(), texts);
    assert.ok(most > 1 && most <= 4);
  });

  it('bounds the characters of a slice, and takes a long text alone', async () => {
    const texts = ['x'.repeat(200_000), 'y'.repeat(200_000), 'z'.repeat(1_000_000), 'a', 'b'];
    const sizes = await askInSlices(texts, never, async (from, to) => to - from);
    assert.deepEqual(sizes, [1, 1, 1, 2]);
  });

  it('stops the others at the first failure', async () => {
    const signals: AbortSignal[] = [];
    const asked = askInSlices(Array(500).fill('x'), never, async (from, _to, signal) => {
      signals.push(signal);
      if (from === 0) throw new Error('broken');
      await turn();
    });
    await assert.rejects(asked, /broken/);
    assert.ok(signals.every((signal) => signal.aborted));
    assert.ok(signals.length < 8);
  });
});
