import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BodyStream } from '../../../../gateway/http/incoming-body.js';
import { LatePause } from '../../../../gateway/http/uws-reads.js';

const PIECE = Buffer.alloc(400 * 1024, 7);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A body as it comes over uWebSockets.js, and what it had done to its connection. */
function opened(): { stream: BodyStream; told: string[] } {
  const told: string[] = [];
  const late = new LatePause({ pause: () => told.push('pause'), resume: () => told.push('resume') }, () => true);
  const source = { pause: () => late.pause(), resume: () => late.resume(), drop: () => {}, leave: () => {} };
  return { stream: new BodyStream(source, { limitBytes: 1e9, declared: Number.NaN, stallMs: 60_000 }), told };
}

async function lengthOf(stream: BodyStream): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) bytes += (chunk as Buffer).length;
  return bytes;
}

it('a body that nobody reads pauses its connection until somebody does', async () => {
  const { stream, told } = opened();
  stream.accept(PIECE);
  assert.deepEqual(told, [], 'not in the middle of what was read');
  await turn();
  assert.deepEqual(told, ['pause']);
  stream.once('readable', () => stream.read());
  await turn();
  assert.deepEqual(told, ['pause', 'resume']);
  stream.accept(PIECE);
  stream.finish();
  assert.equal(await lengthOf(stream), PIECE.length);
  assert.deepEqual(told, ['pause', 'resume']);
});

for (const [how, last] of [
  ['with its last bytes', undefined],
  ['with an empty piece, as chunked ones do', Buffer.alloc(0)],
] as const)
  it(`a body that ends ${how} before it is read leaves its connection alone`, async () => {
    const { stream, told } = opened();
    stream.accept(PIECE);
    stream.accept(PIECE);
    if (last) stream.accept(last);
    stream.finish();
    await turn();
    assert.equal(await lengthOf(stream), 2 * PIECE.length);
    assert.deepEqual(told, []);
  });
