import type { NativeSampleStream } from '../../../native/contract/audio.js';
import { loadCore } from '../../../native/loader.js';
import { type Sound, SPEECH_RATE, type WordTime } from '../contracts/speaking.js';

/** Below this nothing is heard. */
const SILENT = 0.004;
const FRAME = SPEECH_RATE / 200;
/** What stays before and behind the sound, so that no soft consonant is cut. */
const MARGIN = 6 * FRAME;

function isSilent(samples: Float32Array, from: number): boolean {
  for (let index = from; index < from + FRAME && index < samples.length; index += 1) if (Math.abs(samples[index]!) > SILENT) return false;
  return true;
}

/** A phrase with so many seconds of silence behind it, whatever silence the engine put before and behind. */
export function withPause({ samples, words }: Sound, pause: number): Sound {
  let first = 0;
  while (first < samples.length && isSilent(samples, first)) first += FRAME;
  let last = samples.length - (samples.length % FRAME);
  while (last > first && isSilent(samples, last)) last -= FRAME;
  const start = Math.max(0, first - MARGIN);
  const end = Math.min(samples.length, last + FRAME + MARGIN);
  const whole = new Float32Array(Math.max(0, end - start) + Math.round(pause * SPEECH_RATE));
  whole.set(samples.subarray(start, end));
  const shift = start / SPEECH_RATE;
  const within = (time: number): number => Math.min(Math.max(0, time - shift), whole.length / SPEECH_RATE);
  const moved = words?.map(({ word, start: from, end: to }): WordTime => ({ word, start: within(from), end: within(to) }));
  return { samples: whole, ...(moved && { words: moved }) };
}

/** All of a row of samples through a stream. */
export function pushAll(stream: NativeSampleStream, samples: Float32Array): Float32Array {
  const [first, last] = [stream.push(samples), stream.flush()];
  const whole = new Float32Array(first.length + last.length);
  whole.set(first);
  whole.set(last, first.length);
  return whole;
}

/** The same sound so many times as fast, as high as before. */
export function changeSpeed({ samples, words }: Sound, speed: number): Sound {
  const moved = words?.map(({ word, start, end }): WordTime => ({ word, start: start / speed, end: end / speed }));
  return { samples: pushAll(loadCore().openTimeStretch(SPEECH_RATE, speed), samples), ...(moved && { words: moved }) };
}
