import type { Ranking } from './sentences.js';
import { dot } from './weights.js';

const ROUNDS = 60;
const NEGLIGIBLE = 1e-9;

/** The strongest eigenvectors of a symmetric matrix without negative eigenvalues, by power iteration and deflation. */
function eigenpairs(matrix: Float64Array[], count: number): { value: number; vector: Float64Array }[] {
  const size = matrix.length;
  const pairs: { value: number; vector: Float64Array }[] = [];
  while (pairs.length < count) {
    // A fixed start that no eigenvector of a text is likely to be at right angles to.
    let vector = Float64Array.from({ length: size }, (_, index) => 1 + ((index * 7919) % 101) / 101);
    let value = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const next = matrix.map((row) => row.reduce((sum, cell, column) => sum + cell * vector[column]!, 0));
      value = Math.hypot(...next);
      if (value < NEGLIGIBLE) return pairs;
      vector = Float64Array.from(next, (one) => one / value);
    }
    pairs.push({ value, vector });
    for (let row = 0; row < size; row += 1) {
      for (let column = 0; column < size; column += 1) matrix[row]![column]! -= value * vector[row]! * vector[column]!;
    }
  }
  return pairs;
}

/**
 * Latent semantic analysis after Steinberger and Jezek (2004): a sentence scores the length of its vector in the strongest topics of the
 * term by sentence matrix, each weighed by its singular value. The right singular vectors are the eigenvectors of sentences by sentences.
 */
export const lsa: Ranking = (sentences, wanted) => {
  const matrix = sentences.map((a) => Float64Array.from(sentences, (b) => dot(a.terms, b.terms)));
  const topics = eigenpairs(matrix, Math.min(wanted, sentences.length));
  return sentences.map((_, index) => Math.sqrt(topics.reduce((sum, { value, vector }) => sum + value * vector[index]! ** 2, 0)));
};
