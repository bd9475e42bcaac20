import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AudioFormatName } from '../../../../runtime/speech/codecs/contract.js';
import { AUDIO_FORMATS, encodeAudio, openEncoder } from '../../../../runtime/speech/codecs/encode.js';
import { wavFile } from '../../../../runtime/speech/codecs/wav.js';
import { SPEECH_RATE } from '../../../../runtime/speech/contract.js';
import { Failure } from '../../../../schemas/errors.js';
import { syllables } from '../../../support/audio/signals.js';
import { longestHold } from '../../../support/loop-holds.js';

const names = Object.keys(AUDIO_FORMATS) as AudioFormatName[];

async function* inPieces(samples: Float32Array, size: number): AsyncGenerator<Float32Array> {
  for (let at = 0; at < samples.length; at += size) yield samples.slice(at, at + size);
}

async function encoded(name: AudioFormatName, samples: Float32Array, size = 2400): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const bytes of encodeAudio(name, inPieces(samples, size))) pieces.push(bytes);
  return Buffer.concat(pieces);
}

/** What the bytes of each format begin with. */
const BEGINNINGS: Record<AudioFormatName, RegExp> = {
  mp3: /^(?:ff[f]|494433)/,
  opus: /^4f676753.{48}.*4f70757348656164/,
  aac: /^fff[189]/,
  flac: /^664c6143/,
  wav: /^52494646ffffffff57415645/,
  pcm: /^/,
};

describe('encoding of speech', () => {
  for (const name of names) {
    it(`${name} gives its kind of bytes before the end, whatever the pieces`, async () => {
      const samples = syllables(1.2, SPEECH_RATE);
      const encoder = openEncoder(name);
      let early = 0;
      for await (const piece of inPieces(samples, 2400)) early += (await encoder.push(piece)).length;
      const last = await encoder.end();
      assert.ok(early > 0.5 * (early + last.length), `${early} of ${early + last.length} bytes came before the end`);
      const bytes = await encoded(name, samples, 777);
      assert.match(bytes.subarray(0, 100).toString('hex'), BEGINNINGS[name]);
      if (name !== 'opus') assert.deepEqual(await encoded(name, samples, 28_800), bytes, 'pieces do not show');
    });

    it(`${name} gives most bytes of a phrase when it has taken the phrase, though the next one is not there`, async () => {
      const samples = syllables(1.2, SPEECH_RATE);
      const encoder = openEncoder(name);
      const [first, second] = [await encoder.push(samples), await encoder.push(samples)];
      const last = await encoder.end();
      const share = first.length / (first.length + second.length + last.length);
      assert.ok(share > 0.4, `${Math.round(100 * share)} % of the bytes came with the first half`);
    });

    it(`${name} ends when it is given up, and refuses what comes then`, async () => {
      const encoder = openEncoder(name);
      await encoder.push(syllables(0.3, SPEECH_RATE));
      encoder.close();
      encoder.close();
      await assert.rejects(encoder.push(new Float32Array(10)), (error) => error instanceof Failure && error.kind === 'unavailable');
      await assert.rejects(encoder.end(), Failure);
      const signal = AbortSignal.abort(new Error('gone'));
      await assert.rejects(encodeAudio(name, inPieces(syllables(0.3, SPEECH_RATE), 100), signal).next(), /gone/);
    });

    it(`${name} writes an utterance without samples`, async () => {
      const bytes = await encoded(name, new Float32Array(0));
      assert.equal(bytes.length > 0, name !== 'pcm');
    });
  }

  it('aac is at most 60 ms longer than speech with a breath before it, however its end falls', async () => {
    for (const more of [1, 200, 400, 600, 614, 615, 800, 1023]) {
      const samples = syllables(0.5, SPEECH_RATE)
        .slice(0, 8192 + more)
        .fill(0, 0, 0.03 * SPEECH_RATE);
      const bytes = await encoded('aac', samples);
      let frames = 0;
      for (let at = 0; at < bytes.length; frames += 1) at += (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
      const offMs = (1000 * (frames * 1024 - samples.length)) / SPEECH_RATE;
      assert.ok(Math.abs(offMs) <= 60, `${more} samples in the last frame: ${offMs} ms`);
    }
  });

  it('does not hold the event loop while a minute is encoded', async () => {
    const minute = syllables(60, SPEECH_RATE);
    for (const name of names) {
      await encoded(name, minute.subarray(0, 24_000), 24_000);
      const held = await longestHold(() => encoded(name, minute, minute.length));
      assert.ok((held ?? 0) < 25, `${name} held it for ${held} ms`);
    }
  });

  it('writes a whole WAV file with its sizes', () => {
    assert.equal(wavFile(new Float32Array(2_000_000), 16_000).length, 4_000_044);
    const file = wavFile(Float32Array.of(0, 1, -1, 0.5), 16_000);
    assert.equal(file.length, 52);
    assert.equal(file.readUInt32LE(4), 44);
    assert.equal(file.readUInt32LE(24), 16_000);
    assert.equal(file.readUInt32LE(40), 8);
    assert.deepEqual([...new Int16Array(file.buffer, file.byteOffset + 44, 4)], [0, 32767, -32768, 16384]);
  });
});
