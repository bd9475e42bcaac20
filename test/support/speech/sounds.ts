import { seededRandom } from '../../../models/writers/random.js';

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
export function wavOf(samples: Float32Array, rate = RATE): Buffer {
  const data = Buffer.alloc(samples.length * 2);
  for (const [at, sample] of samples.entries()) data.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), at * 2);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
