import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BodyStream } from '../../../../gateway/http/body-stream.js';

it('a body whose last bytes come before they are read leaves its connection alone', async () => {
  const told: string[] = [];
  const source = Object.fromEntries(['pause', 'resume', 'drop', 'leave'].map((what) => [what, () => told.push(what)]));
  const piece = Buffer.alloc(400 * 1024, 7);
  const stream = new BodyStream(source as never, { limitBytes: 1e9, declared: 2 * piece.length, stallMs: 60_000 });
  stream.accept(piece);
  assert.deepEqual(told, ['pause'], 'until somebody reads');
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    stream.pause();
  });
  await new Promise(setImmediate);
  assert.deepEqual([bytes, told], [piece.length, ['pause', 'resume']]);
  stream.accept(piece, true);
  stream.finish();
  assert.deepEqual(told, ['pause', 'resume'], 'a connection that is resumed once its request is complete would be closed when idle');
  stream.resume();
  await new Promise((done) => stream.once('end', done));
  assert.equal(bytes, 2 * piece.length);
});
