import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LISTEN_RATE } from '../../../../runtime/speech/decode/contract.js';
import { LiveDecoder } from '../../../../runtime/speech/decode/live.js';
import { Failure } from '../../../../schemas/errors.js';
import { opusFile, wavOf } from '../../../support/audio/files.js';
import { bestMatch, syllables } from '../../../support/audio/signals.js';
import { longestHold } from '../../../support/loop-holds.js';

const SECONDS = 1.2;
const heard = syllables(SECONDS, LISTEN_RATE);

async function take(decoder: LiveDecoder, bytes: Uint8Array, size: number): Promise<Float32Array> {
  const chunks: number[] = [];
  for (let at = 0; at < bytes.length; at += size)
    for await (const samples of decoder.push(bytes.subarray(at, at + size))) chunks.push(...samples);
  return Float32Array.from(chunks);
}

function assertHeard(samples: Float32Array): void {
  assert.ok(Math.abs(samples.length / LISTEN_RATE - SECONDS) < 0.05, `${samples.length / LISTEN_RATE} s`);
  const { correlation } = bestMatch(heard, samples, 400);
  assert.ok(correlation > 0.97, String(correlation));
}

const pcm = () => {
  const file = wavOf(heard, LISTEN_RATE, { depth: 's16', channels: 1 });
  return file.subarray(file.length - 2 * heard.length);
};

describe('live audio', () => {
  const kinds = {
    webm: () => opusFile('webm', syllables(SECONDS, 48_000), 2),
    ogg: () => opusFile('ogg', syllables(SECONDS, 48_000)),
    wav: async () => wavOf(syllables(SECONDS, 44_100), 44_100, { depth: 's16', channels: 2, endless: true }),
    pcm: async () => pcm(),
  };
  for (const [kind, make] of Object.entries(kinds)) {
    it(`${kind} is known by its first bytes, and decoded wherever it is cut`, async () => {
      const bytes = await make();
      for (const size of [1_000_000, 4096, 777, 3]) {
        const decoder = new LiveDecoder();
        assertHeard(await take(decoder, bytes, size));
        assert.equal(decoder.kind, kind);
      }
    });
  }

  it('follows a recorder that starts again in the middle of a block, and one of another kind', async () => {
    const decoder = new LiveDecoder();
    const webm = await kinds.webm();
    const first = await take(decoder, webm.subarray(0, Math.floor(webm.length / 2) + 1), 500);
    assert.ok(first.length > 0.3 * heard.length);
    assertHeard(await take(decoder, webm, 500));
    assertHeard(await take(decoder, await kinds.ogg(), 500));
    assert.equal(decoder.kind, 'ogg');
    decoder.reset();
    assertHeard(await take(decoder, pcm(), 321));
  });

  it('refuses what is not read live, and begins anew', async () => {
    const decoder = new LiveDecoder();
    for (const begin of ['fLaC', 'ID3\x04', 'FORM', '\x00\x00\x00\x20ftypM4A '])
      await assert.rejects(
        take(decoder, Buffer.from(`${begin}............`, 'latin1'), 100),
        (error) => error instanceof Failure && error.kind === 'bad_request',
      );
    await assert.rejects(take(decoder, Buffer.from('1a45dfa301ffffffffffffff0000', 'hex'), 100), /WebM stream is damaged/);
    assertHeard(await take(decoder, pcm(), 5000));
  });

  it('neither fails nor holds the event loop on damaged streams', async () => {
    const webm = await kinds.webm();
    const ogg = await kinds.ogg();
    for (let fault = 0; fault < 60; fault++) {
      const bytes = Buffer.from(fault % 2 === 0 ? webm : ogg);
      for (let i = 0; i < 10; i++) bytes[(40 + fault * 7919 + i * i * 104729) % bytes.length]! ^= 1 << (i % 8);
      await take(new LiveDecoder(), bytes, 999).catch((error: unknown) =>
        assert.ok(error instanceof Failure && error.kind === 'bad_request', String(error)),
      );
    }
    // A block of one byte each, a hundred thousand of them.
    const tracks = webm.subarray(0, webm.indexOf(Buffer.from('1f43b675', 'hex')));
    const blocks = Buffer.concat(Array.from({ length: 100_000 }, () => Buffer.from('a38581000080fc', 'hex')));
    const flood = Buffer.concat([tracks, Buffer.from('1f43b67501ffffffffffffff', 'hex'), blocks]);
    const held = await longestHold(async () => {
      for await (const _ of new LiveDecoder().push(flood)) void _;
    });
    assert.ok((held ?? 0) < 40, `${held} ms`);
  });
});
