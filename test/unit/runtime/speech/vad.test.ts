import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { LISTEN_RATE } from '../../../../runtime/speech/decode/contract.js';
import { energyActivity, VOICE_FRAME, type VoiceActivity, VoiceDetectors } from '../../../../runtime/speech/voice-activity.js';
import { LiveHearing } from '../../../../runtime/voice/hearing.js';
import { syllables } from '../../../support/audio/signals.js';

const detectors = new VoiceDetectors();
after(() => detectors.close());

const whole = (samples: Float32Array): Float32Array => samples.subarray(0, samples.length - (samples.length % VOICE_FRAME));
const seconds = (length: number, of: (index: number) => number): Float32Array =>
  whole(Float32Array.from({ length: length * LISTEN_RATE }, (_, index) => of(index)));
let seed = 1;
const noise = (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return seed / 2 ** 30 - 1;
};
const share = (heard: Float32Array): number => heard.filter((one) => one >= 0.5).length / heard.length;

describe('the detector of speech', () => {
  const kinds: Record<string, () => VoiceActivity> = { silero: () => detectors.open(), energy: energyActivity };
  for (const [kind, open] of Object.entries(kinds)) {
    it(`${kind} hears nothing in silence, and little in steady noise`, async () => {
      const activity = open();
      assert.equal(share(await activity.hear(seconds(2, () => 0))), 0);
      await activity.hear(seconds(3, () => 0.05 * noise()));
      assert.ok(share(await activity.hear(seconds(3, () => 0.05 * noise()))) < 0.1);
      activity.close();
    });
  }

  it('energy hears syllables, and gaps between them', async () => {
    const heard = await energyActivity().hear(whole(syllables(4, LISTEN_RATE)));
    assert.ok(share(heard) > 0.6 && share(heard) < 1, String(share(heard)));
  });

  it('answers by loudness when its process has ended, and by the process again later', async () => {
    const activity = detectors.open();
    const sound = whole(syllables(1, LISTEN_RATE));
    await activity.hear(sound);
    assert.equal(activity.detector, 'silero');
    const broken = new VoiceDetectors();
    await broken.close();
    const alone = broken.open();
    assert.deepEqual(await alone.hear(sound), await energyActivity().hear(sound));
    assert.equal(alone.detector, 'energy');
    activity.close();
  });

  it('gives frames of what a microphone sends, whatever the messages', async () => {
    const samples = syllables(2, LISTEN_RATE);
    const bytes = new Uint8Array(Int16Array.from(samples, (sample) => Math.round(sample * 32767)).buffer);
    const frames = async (size: number) => {
      const hearing = new LiveHearing(detectors.open());
      const all = [];
      for (let at = 0; at < bytes.length; at += size)
        for await (const frame of hearing.hear(bytes.subarray(at, at + size))) all.push(frame);
      for await (const frame of hearing.end()) all.push(frame);
      hearing.close();
      return all;
    };
    const one = await frames(1 << 20);
    const other = await frames(1001);
    assert.equal(one.length, Math.ceil(samples.length / VOICE_FRAME));
    assert.deepEqual(
      one.map(({ level }) => level),
      other.map(({ level }) => level),
    );
    for (const [index, { speech }] of one.entries()) assert.ok(Math.abs(speech - other[index]!.speech) < 1e-4);
  });
});
