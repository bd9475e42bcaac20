import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LISTEN_RATE } from '../../../../runtime/speech/decode/contract.js';
import { type SpokenStretch, spokenStretches } from '../../../../runtime/speech/transcription/stretches.js';
import { srtOf, textOf, vttOf } from '../../../../runtime/speech/transcription/text.js';
import { noise, silence, tone } from '../../../support/speech/sounds.js';

async function cut(...pieces: Float32Array[]): Promise<SpokenStretch[]> {
  const all: SpokenStretch[] = [];
  for await (const stretch of spokenStretches(pieces)) all.push(stretch);
  return all;
}

const seconds = ({ samples }: SpokenStretch): number => samples.length / LISTEN_RATE;
const joined = (...parts: Float32Array[]): Float32Array => Float32Array.from(parts.flatMap((part) => [...part]));

describe('stretches of speech', () => {
  it('leave out silence, steady noise and clicks', async () => {
    const click = silence(1);
    click.fill(0.9, 8000, 8200);
    for (const [name, samples] of Object.entries({ silence: silence(30), noise: noise(30, 0.3), click, nothing: silence(0) }))
      assert.deepEqual(await cut(samples), [], name);
    assert.deepEqual(await cut(new Float32Array(LISTEN_RATE).fill(Number.NaN)), [], 'what is no number');
  });

  it('begin and end a little before and after what is said, wherever the pieces are cut', async () => {
    const samples = joined(silence(10), tone(3), silence(10));
    const whole = await cut(samples);
    assert.equal(whole.length, 1);
    assert.ok(whole[0]!.start > 9.5 && whole[0]!.start < 10.2, `${whole[0]!.start}`);
    assert.ok(seconds(whole[0]!) > 2.9 && seconds(whole[0]!) < 4, `${seconds(whole[0]!)} s`);
    const parts = Array.from({ length: Math.ceil(samples.length / 777) }, (_none, at) => samples.subarray(at * 777, (at + 1) * 777));
    assert.deepEqual(await cut(...parts), whole);
  });

  it('hear quiet speech, and speech over noise', async () => {
    const quiet = joined(
      silence(2),
      tone(2).map((sample) => sample / 30),
      silence(2),
    );
    assert.equal((await cut(quiet)).length, 1);
    const loud = noise(9, 0.02);
    const spoken = joined(silence(3), tone(3), silence(3)).map((sample, at) => sample + loud[at]!);
    const [stretch] = await cut(spoken);
    assert.ok(stretch && stretch.start > 2 && stretch.start < 3.2, JSON.stringify(stretch?.start));
  });

  it('begin where something is said, in the last minute of an hour as in the first', async () => {
    const spoken = tone(2);
    const places: number[] = [];
    const hour = async function* (): AsyncGenerator<Float32Array, void, undefined> {
      for (let at = 0; at < 3600; at += 2) {
        const pause = silence(2.5 + 0.7 * (places.length % 7));
        at += pause.length / LISTEN_RATE;
        places.push(at);
        yield pause;
        yield spoken;
      }
    };
    const late: number[] = [];
    let most = 0;
    for await (const { start, samples } of spokenStretches(hour())) {
      late.push(start - places[late.length]!);
      most = Math.max(most, samples.length / LISTEN_RATE);
    }
    assert.equal(late.length, places.length);
    assert.ok(Math.min(...late) > -0.5 && Math.max(...late) < 0, `off by ${Math.min(...late)} to ${Math.max(...late)} s`);
    assert.ok(Math.max(...late) - Math.min(...late) < 0.03 && most < 3, `${most} s at most`);
  });

  it('are at most 28 s long, cut where it is quiet, and lose nothing between', async () => {
    const stretches = await cut(tone(100));
    assert.ok(stretches.length >= 4);
    let until = 0;
    for (const stretch of stretches) {
      assert.ok(seconds(stretch) <= 28.01, `${seconds(stretch)} s`);
      assert.ok(stretch.start <= until + 0.7, `${stretch.start} follows ${until}`);
      until = stretch.start + seconds(stretch);
    }
    assert.ok(until > 99, `${until} s`);
  });
});

describe('transcripts', () => {
  const segment = (start: number, end: number, text: string) => ({
    id: 0,
    start,
    end,
    text,
    words: null,
    avg_logprob: 0,
    no_speech_prob: 0,
  });
  const segments = [segment(0, 1.2, 'One.'), segment(59.9999, 3661.0016, 'Two --> three.')];

  it('are subtitles whose times are cut off, not rounded', () => {
    assert.equal(srtOf(segments), '1\n00:00:00,000 --> 00:00:01,200\nOne.\n\n2\n00:00:59,999 --> 01:01:01,001\nTwo -> three.\n\n');
    assert.equal(vttOf(segments), 'WEBVTT\n\n00:00:00.000 --> 00:00:01.200\nOne.\n\n00:00:59.999 --> 01:01:01.001\nTwo -> three.\n\n');
    assert.deepEqual([srtOf([]), vttOf([])], ['', 'WEBVTT\n\n']);
  });

  it('are joined as their language is written', () => {
    assert.deepEqual([textOf(segments, 'en'), textOf(segments, 'ja')], ['One. Two --> three.', 'One.Two --> three.']);
  });
});
