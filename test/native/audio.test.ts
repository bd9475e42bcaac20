import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadCore } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';

const core = loadCore();
/** Calls with anything, as JavaScript can. */
const loose = core as unknown as Record<string, (...values: unknown[]) => Record<string, (...values: unknown[]) => unknown>>;

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, `not a Failure: ${String(error)}`);
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

test('samples go to bytes and back through views of larger arrays', () => {
  const view = new Float32Array([9, 0, 0.5, -0.5, 9]).subarray(1, 4);
  const bytes = core.encodeSamples(view, 's16');
  assert.deepEqual([...new Int16Array(bytes.buffer, bytes.byteOffset, 3)], [0, 16384, -16384]);
  assert.deepEqual([...core.decodeSamples(bytes, 's16', 1)], [0, 0.5, -0.5]);
  assert.deepEqual([...core.decodeSamples(bytes, 's16', 2)], [0.25], 'half a frame is left out');
  assert.deepEqual([...core.mixChannels([view, view])], [0, 0.5, -0.5]);
  assert.equal(core.encodeSamples(new Float32Array(0), 'f32').length, 0);
});

test('streams of samples keep their state between calls, and begin anew after the last', () => {
  const resampler = core.openResampler(16_000, 24_000);
  const sound = Float32Array.from({ length: 1600 }, (_, index) => Math.sin(index / 9));
  const once = [...resampler.push(sound), ...resampler.flush()];
  const pieces = [...resampler.push(sound.subarray(0, 7)), ...resampler.push(sound.subarray(7)), ...resampler.flush()];
  assert.equal(once.length, 2400);
  assert.deepEqual(pieces, once);
  assert.equal(core.openTimeStretch(16_000, 2).flush().length, 0);
  // A transferred array counts as empty.
  structuredClone(sound, { transfer: [sound.buffer] });
  assert.equal(resampler.push(sound).length, 0);
});

test('wrong arguments are refused with their names', () => {
  const none = new Float32Array(0);
  const wrong: readonly (readonly [string, unknown[], RegExp])[] = [
    ['encodeSamples', [[1, 2], 's16'], /samples must be a Float32Array/],
    ['encodeSamples', [none, 'mp3'], /encoding is "mp3"/],
    ['encodeSamples', [new Float32Array(1), 'f64'], /written as u8, s8/],
    ['decodeSamples', [new Uint8Array(4), 's16', 0], /channels must be a whole number from 1 to 64/],
    ['decodeSamples', [none, 's16', 1], /bytes must be a Uint8Array/],
    ['mixChannels', [[]], /channels has 0 items/],
    ['mixChannels', [[none, new Float32Array(2)]], /different lengths/],
    ['wavHeader', [1.5, 's16'], /rate must be a whole number/],
    ['wavHeader', [16_000, 's16', -1], /dataBytes must be a whole number/],
    ['openResampler', [16_000, 0], /to is 0 Hz/],
    ['openResampler', ['16000', 16_000], /from must be a number/],
    ['openTimeStretch', [16_000, 5], /speed is 5/],
    ['openVoiceActivity', [0, 0.1], /frameSamples is 0/],
    ['openPcmReader', ['mp3'], /allowed are wav and flac/],
    ['openPacketReader', ['mp4'], /allowed are webm and ogg/],
    ['openOggWriter', [{ serial: -1, inputRate: 1, channels: 1, preSkip: 0 }], /serial must be a whole number/],
    ['openOggWriter', [undefined], /options must be an object/],
  ];
  for (const [name, values, text] of wrong) assert.throws(() => loose[name]!(...values), failure('invalid', text), name);
  assert.throws(() => core.encodeSamples(new Float32Array(2 ** 20 + 1), 's16'), failure('too_large', /at most 1048576/));
  assert.throws(() => core.decodeSamples(new Uint8Array(2 ** 22 + 1), 's16', 1), failure('too_large', /at most 4194304/));
  assert.throws(() => core.openAacDecoder(new Uint8Array(0)), failure('bad_request', /AAC audio is damaged/));
  const reader = core.openPcmReader('flac');
  reader.push(Buffer.from('RIFF'));
  assert.throws(() => reader.read(), failure('bad_request', /does not begin with fLaC/));
});
