import assert from 'node:assert/strict';
import { it } from 'node:test';
import { release } from '../../../../../runtime/models/fetch/part-writer.js';

it('pieces that are all of their memory are freed, others keep what they share', () => {
  const whole = new Uint8Array(65_536).fill(7);
  const shared = new ArrayBuffer(65_536);
  const views = [new Uint8Array(shared, 0, 1000), new Uint8Array(shared, 1000)];
  const pooled = Buffer.from('a few bytes of the pool');
  release([whole, ...views, pooled, new Uint8Array(0), new Uint8Array(new SharedArrayBuffer(8)), whole]);
  assert.equal(whole.byteLength, 0);
  assert.deepEqual(
    views.map(({ byteLength }) => byteLength),
    [1000, 64_536],
  );
  assert.equal(pooled.toString(), 'a few bytes of the pool');
});

it('nothing to free is no failure', () => {
  release([]);
  const freed = new Uint8Array(8);
  release([freed]);
  release([freed]);
  assert.equal(freed.byteLength, 0);
});
