import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NumberQueue } from '../../../../runtime/base/number-queue.js';

test('numbers leave in the order in which they came, however they are cut', () => {
  const queue = new NumberQueue((length) => new Float32Array(length));
  let [added, taken] = [0, 0];
  for (let round = 0; round < 2000; round += 1) {
    const piece = Float32Array.from({ length: (round * 7) % 23 }, () => added++);
    queue.add(piece);
    assert.equal(queue.length, added - taken);
    const wanted = (round * 5) % 29;
    const first = queue.peek(wanted);
    assert.deepEqual(
      [...first],
      Array.from({ length: Math.min(wanted, added - taken) }, (_, at) => taken + at),
    );
    queue.drop(first.length);
    taken += first.length;
  }
  queue.drop(Number.MAX_SAFE_INTEGER);
  assert.deepEqual([queue.length, queue.peek(5).length], [0, 0]);
});

test('pieces of one byte take no more than twice their bytes', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const queue = new NumberQueue((length) => new Uint8Array(length));
  const before = used();
  const count = 2 ** 20;
  for (let at = 0; at < count; at += 1) queue.add(Uint8Array.of(at));
  const grown = used() - before;
  assert.ok(queue.length === count && grown < 3 * count, `${grown} bytes for ${count}`);
});
