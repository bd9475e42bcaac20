import { seededRandom } from '../../../models/writers/random.js';
import { wavFile } from '../../../runtime/speech/codecs/wav.js';

const RATE = 16_000;

/** So many seconds of nothing, 16 kHz. */
export const silence = (seconds: number): Float32Array => new Float32Array(Math.round(seconds * RATE));

/** A tone that comes and goes as syllables do, which passes for speech where nobody listens to words. */
export const tone = (seconds: number): Float32Array =>
  silence(seconds).map((_zero, at) => 0.3 * Math.sin((2 * Math.PI * 220 * at) / RATE) * Math.sin((2 * Math.PI * 2 * at) / RATE) ** 2);

/** White noise with an effective value of `level`. */
export function noise(seconds: number, level: number): Float32Array {
  const samples = silence(seconds);
  seededRandom(5).fill(samples, level * Math.sqrt(3));
  return samples;
}

/** A WAV file of 16 bits, mono. */
export const wavOf = (samples: Float32Array, rate = RATE): Buffer => wavFile(samples, rate);
