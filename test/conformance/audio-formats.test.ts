import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { AudioFormatName } from '../../runtime/speech/codecs/contract.js';
import { AUDIO_FORMATS, encodeAudio } from '../../runtime/speech/codecs/encode.js';
import { SPEECH_RATE } from '../../runtime/speech/contract.js';
import { LISTEN_RATE } from '../../runtime/speech/decode/contract.js';
import { decodeAudio, decodeWhole } from '../../runtime/speech/decode/decode.js';
import { AUDIO_READERS } from '../../runtime/speech/decode/index.js';
import { LiveDecoder } from '../../runtime/speech/decode/live.js';
import { kindOf } from '../../runtime/speech/decode/sniff.js';
import { Failure } from '../../schemas/errors.js';
import { encodedFile, mp3Of, opusFile, type WavDepth, wavOf } from '../support/audio/files.js';
import { bestMatch, syllables } from '../support/audio/signals.js';

const SECONDS = 1.365;
const MOST_OFF_S = 0.06;
/** Lossy encoders put silence around the sound, and not every file says how much. */
const MOST_OFF_FILE_S = 0.13;
const heard = syllables(SECONDS, LISTEN_RATE);
const folder = mkdtempSync(join(tmpdir(), 'quern-audio-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function spoken(name: AudioFormatName, samples: Float32Array): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const bytes of encodeAudio(
    name,
    (async function* () {
      yield samples;
    })(),
  ))
    pieces.push(bytes);
  return Buffer.concat(pieces);
}

/** Expects the sound of `heard`, of its length and at its place. */
function assertHeard(samples: Float32Array, least: number, mostOffS = MOST_OFF_S): void {
  const off = samples.length / LISTEN_RATE - SECONDS;
  assert.ok(Math.abs(off) <= mostOffS, `it is ${off.toFixed(3)} s longer`);
  const { correlation } = bestMatch(heard, samples, mostOffS * LISTEN_RATE);
  assert.ok(correlation > least, `it is like what was said by ${correlation.toFixed(4)}`);
}

describe('formats of speech', () => {
  for (const name of Object.keys(AUDIO_FORMATS) as AudioFormatName[]) {
    it(`${name} says what was said`, async () => {
      const bytes = await spoken(name, syllables(SECONDS, SPEECH_RATE));
      if (name === 'pcm') {
        // Samples at 24 kHz without a header are told from no others.
        const wav = wavOf(
          new Float32Array(new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))).map((one) => one / 32768),
          SPEECH_RATE,
          { depth: 's16', channels: 1 },
        );
        assertHeard(await decodeWhole(wav), 0.999);
        return;
      }
      assertHeard(await decodeWhole(bytes), 0.97);
    });
  }
});

/** Files of every kind that is read. */
const FILES: Record<string, () => Promise<Buffer>> = {
  'mp3 44.1 kHz stereo': () => mp3Of(syllables(SECONDS, 44_100), 44_100, 2),
  'mp3 16 kHz': () => mp3Of(syllables(SECONDS, 16_000), 16_000, 1),
  'mp3 with a tag': async () =>
    Buffer.concat([
      Buffer.from('ID3\x04\x00\x00\x00\x00\x01\x00', 'latin1'),
      Buffer.alloc(128),
      await mp3Of(syllables(SECONDS, 24_000), 24_000, 1),
    ]),
  'm4a 44.1 kHz stereo': () => encodedFile('m4a', syllables(SECONDS, 44_100), 44_100, 2),
  'm4a 16 kHz': () => encodedFile('m4a', syllables(SECONDS, 16_000), 16_000, 1),
  'mp4 with Opus': () => opusFile('mp4', syllables(SECONDS, 48_000)),
  'flac 44.1 kHz stereo': () => encodedFile('flac', syllables(SECONDS, 44_100), 44_100, 2),
  'flac 96 kHz': () => encodedFile('flac', syllables(SECONDS, 96_000), 96_000, 1),
  'ogg with Opus, stereo': () => opusFile('ogg', syllables(SECONDS, 48_000), 2),
  'ogg with Vorbis, stereo': async () => readFileSync(join(import.meta.dirname, '../../../test/support/audio/syllables.ogg')),
  'webm with Opus': () => opusFile('webm', syllables(SECONDS, 48_000)),
  'webm with Opus, stereo': () => opusFile('webm', syllables(SECONDS, 48_000), 2),
  aac: () => spoken('aac', syllables(SECONDS, SPEECH_RATE)),
};

for (const depth of ['u8', 's16', 's24', 's32', 'f32', 'f64'] as const satisfies readonly WavDepth[])
  for (const rate of [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000])
    FILES[`wav ${depth} ${rate} Hz`] = async () =>
      wavOf(syllables(SECONDS, rate), rate, { depth, channels: rate % 3 === 0 ? 1 : 2, extensible: depth === 's24' });
FILES['wav of a stream'] = async () => wavOf(syllables(SECONDS, 24_000), 24_000, { depth: 's16', channels: 1, endless: true });

describe('audio files', () => {
  for (const [name, make] of Object.entries(FILES)) {
    it(`${name} is read`, async () => {
      const bytes = await make();
      const path = join(folder, 'file');
      writeFileSync(path, bytes);
      const samples = await decodeWhole(path);
      assertHeard(samples, /8000 Hz|11025/.test(name) ? 0.95 : 0.97, /mp3|m4a/.test(name) ? MOST_OFF_FILE_S : MOST_OFF_S);
      assert.deepEqual(await decodeWhole(bytes), samples, 'from memory as from disk');
    });
  }

  it('covers every kind that is listed', async () => {
    const kinds = new Set(['raw']);
    for (const make of Object.values(FILES)) kinds.add(kindOf((await make()).subarray(0, 16)) ?? 'mp3');
    assert.deepEqual([...kinds].sort(), Object.keys(AUDIO_READERS).sort());
  });

  it('reads samples without a header where that is said', async () => {
    const samples = await decodeWhole(wavOf(heard, LISTEN_RATE, { depth: 's16', channels: 1 }).subarray(-2 * heard.length), {
      isRaw: true,
    });
    assertHeard(samples, 0.999);
  });

  const refused = (kind: string, text: RegExp) => (error: unknown) => {
    assert.ok(error instanceof Failure, String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, text);
    return true;
  };

  it('refuses what is no audio, and says what it is', async () => {
    await assert.rejects(decodeWhole(new Uint8Array(0)), refused('bad_request', /empty/));
    await assert.rejects(decodeWhole(Buffer.from('hello, this is text')), refused('bad_request', /no known audio format; send one of mp3/));
    await assert.rejects(decodeWhole(Buffer.from('%PDF-1.7 ............')), refused('bad_request', /is PDF/));
    await assert.rejects(decodeWhole(Buffer.from('FORM....AIFF.........')), refused('bad_request', /is AIFF/));
    const adpcm = wavOf(heard, 16_000, { depth: 's16', channels: 1 });
    adpcm.writeUInt16LE(2, 8 + 12 + 4 + 8);
    await assert.rejects(decodeWhole(adpcm), refused('bad_request', /samples of kind 2/));
    for (const rate of [1, 400_000, 4_000_000_000]) {
      const wav = wavOf(heard.subarray(0, 1000), 16_000, { depth: 's16', channels: 1 });
      wav.writeUInt32LE(rate, 8 + 12 + 4 + 8 + 4);
      const message = new RegExp(`${rate} samples a second; 4000 to 192000 are read`);
      await assert.rejects(decodeWhole(wav), refused('bad_request', message));
      await assert.rejects(new LiveDecoder().push(wav).next(), refused('bad_request', message));
    }
  });

  it('says of each kind of file that it is cut off or damaged, and reads the next one', async () => {
    for (const [name, make] of Object.entries(FILES)) {
      if (/wav (?!s16 16000|of)/.test(name)) continue;
      const bytes = await make();
      for (const part of [5, 20, 60, Math.floor(bytes.length / 2)]) {
        const outcome = await decodeWhole(bytes.subarray(0, part)).catch((error: unknown) => error);
        if (outcome instanceof Float32Array)
          assert.ok(outcome.length < 0.6 * heard.length, `${name} of ${part} bytes gives ${outcome.length} samples`);
        else assert.ok(outcome instanceof Failure && outcome.kind === 'bad_request', `${name} of ${part} bytes: ${outcome}`);
      }
      for (let fault = 0; fault < 4; fault++) {
        const damaged = Buffer.from(bytes);
        for (let i = 0; i < 20; i++) damaged[(fault * 7919 + i * i * 104729) % damaged.length]! ^= 1 << (i % 8);
        const outcome = await decodeWhole(damaged, { mostSeconds: 60 }).catch((error: unknown) => error);
        assert.ok(
          outcome instanceof Float32Array || (outcome instanceof Failure && ['bad_request', 'too_large'].includes(outcome.kind)),
          `${name}: ${outcome}`,
        );
      }
    }
    assertHeard(await decodeWhole(await FILES['webm with Opus']!()), 0.97);
  });

  it('takes an hour in bounded memory, and ends where it is longer than allowed', async () => {
    const hour = Buffer.alloc(44 + 3600 * 16_000);
    wavOf(new Float32Array(0), 16_000, { depth: 'u8', channels: 1, endless: true }).copy(hour);
    const path = join(folder, 'hour.wav');
    writeFileSync(path, hour);
    let samples = 0;
    let largest = 0;
    for await (const chunk of decodeAudio(path)) {
      samples += chunk.length;
      largest = Math.max(largest, process.memoryUsage().arrayBuffers);
    }
    assert.ok(Math.abs(samples / LISTEN_RATE - 3600) < 1);
    assert.ok(largest < 200 * 2 ** 20, `${largest} bytes were held`);
    await assert.rejects(decodeWhole(path, { mostSeconds: 30 }), refused('too_large', /longer than 30 s/));
  });

  it('keeps no program alive when they are read', async () => {
    const decode = new URL('../../runtime/speech/decode/decode.js', import.meta.url);
    const path = join(folder, 'short.wav');
    writeFileSync(path, wavOf(heard, LISTEN_RATE, { depth: 's16', channels: 1 }));
    const program = join(folder, 'decode.mjs');
    writeFileSync(program, `import { decodeWhole } from ${JSON.stringify(decode)};\nawait decodeWhole(${JSON.stringify(path)});`);
    await promisify(execFile)(process.execPath, [program], { timeout: 15_000 });
  });

  it('stops when nobody reads any more', async () => {
    const path = join(folder, 'hour.wav');
    for await (const chunk of decodeAudio(path)) {
      assert.ok(chunk.length > 0);
      break;
    }
    const gone = new AbortController();
    const reading = (async () => {
      for await (const _ of decodeAudio(path, { signal: gone.signal })) gone.abort(new Error('gone'));
    })();
    await assert.rejects(reading, /gone/);
    const many = await Promise.all(Array.from({ length: 6 }, () => decodeWhole(join(folder, 'file'))));
    assert.equal(new Set(many.map(({ length }) => length)).size, 1);
  });
});
