import { randomOf } from '../test/support/retrieval-corpus.js';

/** Numbers of a vector. */
export const DIMENSIONS = 384;
/** Embeddings vary in far fewer directions than they have numbers. */
const DIRECTIONS = 24;
const NOISE = 0.03;

function gauss(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** `count` vectors of length 1, one after the other; the same for the same seed. All seeds share the directions in which vectors vary. */
export function vectorsOf(count: number, seed: number): Float32Array {
  const shape = randomOf(1);
  const basis = Float32Array.from({ length: DIRECTIONS * DIMENSIONS }, () => gauss(shape));
  const random = randomOf(seed);
  const all = new Float32Array(count * DIMENSIONS);
  for (let at = 0; at < count; at += 1) {
    const row = all.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const share = gauss(random);
      for (let index = 0; index < DIMENSIONS; index += 1) row[index]! += share * basis[direction * DIMENSIONS + index]!;
    }
    let square = 0;
    for (let index = 0; index < DIMENSIONS; index += 1) {
      row[index]! += NOISE * (random() - 0.5);
      square += row[index]! ** 2;
    }
    const length = Math.sqrt(square);
    for (let index = 0; index < DIMENSIONS; index += 1) row[index]! /= length;
  }
  return all;
}

/** The vector at a place. */
export function vectorAt(all: Float32Array, at: number): Float32Array {
  return all.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
}
