import type { SpokenChunk } from '../../../runtime/speech/contract.js';

/** Chunks as one. */
export async function whole(chunks: AsyncIterable<SpokenChunk>): Promise<Required<SpokenChunk>> {
  const all: SpokenChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const samples = new Float32Array(all.reduce((sum, chunk) => sum + chunk.samples.length, 0));
  let at = 0;
  for (const chunk of all) {
    samples.set(chunk.samples, at);
    at += chunk.samples.length;
  }
  return { samples, words: all.flatMap(({ words = [] }) => words) };
}

/** How high a tone is, in hertz, by how often it crosses zero where it is loud. */
export function toneOf(samples: Float32Array): number {
  let [crossings, loud] = [0, 0];
  for (let index = 1; index < samples.length; index += 1) {
    if (samples.subarray(Math.max(0, index - 200), index).every((value) => Math.abs(value) < 0.02)) continue;
    loud += 1;
    if (samples[index - 1]! < 0 && samples[index]! >= 0) crossings += 1;
  }
  return (24_000 * crossings) / loud;
}
