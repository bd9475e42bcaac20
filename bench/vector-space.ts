import { randomOf } from '../test/support/retrieval-corpus.js';

/** Numbers of a vector. */
export const DIMENSIONS = 384;
/** Embeddings vary in far fewer directions than they have numbers. */
const DIRECTIONS = 96;
/** Subjects that the rows are about; the first ones have the most rows. */
const CLUSTERS = 400;
/** How far rows lie from their subject, in the unit of how far subjects lie apart. */
const SPREAD = 0.7;
const NOISE = 0.01;

function gauss(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const gaussians = (count: number, random: () => number): Float32Array => Float32Array.from({ length: count }, () => gauss(random));

/**
 * `count` vectors of length 1, one after the other; the same for the same seed. All seeds share the subjects, and the directions in which
 * vectors vary. With these numbers a graph of 16 links that keeps 10 candidates finds about 0.83 of the 10 nearest of 100,000.
 */
export function vectorsOf(count: number, seed: number): Float32Array {
  const shape = randomOf(1);
  const basis = gaussians(DIRECTIONS * DIMENSIONS, shape).map((value) => value / Math.sqrt(DIMENSIONS));
  const centres = gaussians(CLUSTERS * DIRECTIONS, shape);
  const random = randomOf(seed);
  const all = new Float32Array(count * DIMENSIONS);
  for (let at = 0; at < count; at += 1) {
    const row = vectorAt(all, at);
    // The square makes the chance of a subject fall with the root of its number.
    const cluster = Math.floor(CLUSTERS * random() ** 2);
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const share = centres[cluster * DIRECTIONS + direction]! + SPREAD * gauss(random);
      const from = direction * DIMENSIONS;
      for (let index = 0; index < DIMENSIONS; index += 1) row[index]! += share * basis[from + index]!;
    }
    let square = 0;
    for (let index = 0; index < DIMENSIONS; index += 1) {
      row[index]! += NOISE * gauss(random);
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
