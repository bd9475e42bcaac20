import type { Sentence } from './sentences.js';

/** The terms of each sentence with count * ln(sentences / sentences with the term). */
export function tfidfVectors(sentences: readonly Sentence[]): Map<string, number>[] {
  const spread = new Map<string, number>();
  for (const { terms } of sentences) for (const term of terms.keys()) spread.set(term, (spread.get(term) ?? 0) + 1);
  return sentences.map(
    ({ terms }) => new Map([...terms].map(([term, count]) => [term, count * Math.log(sentences.length / spread.get(term)!)])),
  );
}

/** The sum of products over the terms that both have. */
export function dot(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [term, weight] of a) sum += weight * (b.get(term) ?? 0);
  return sum;
}
