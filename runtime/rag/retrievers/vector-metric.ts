import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery } from './contract.js';
import { denseHits, vectorOf, withScore } from './hits.js';

/** The ways to compare vectors that a strategy may name; none = the way of the store. */
export const METRIC = {
  type: 'string',
  default: null,
  enum: ['cosine', 'euclidean', 'manhattan', 'dot'],
  description: "How vectors are compared; none = as the store does. Vectors have length 1, so all but 'manhattan' give the store's order.",
} as const;

/** `manhattan` is measured over this many times the hits that come out, since no store orders by it. */
const WIDER = 4;
const MOST_MEASURED = 100;

/** Dense hits by a metric: the store's, or measured anew over the texts of its nearest hits. */
export async function hitsByMetric(query: RetrievalQuery, means: RetrievalMeans, k: number, metric: string | null): Promise<Hit[]> {
  if (metric !== 'manhattan') return denseHits(query, means, k);
  const vector = await vectorOf(query.text, means);
  const hits = await denseHits(query, means, Math.max(k, Math.min(MOST_MEASURED, k * WIDER)), vector);
  if (hits.length === 0) return [];
  const vectors = await means.embed(
    hits.map((hit) => hit.text),
    'document',
  );
  return hits.map((hit, at) => {
    const score = nearness(vector, vectors[at]!);
    return withScore(query, hit, score, { manhattan_score: score });
  });
}

/** 1 where two unit vectors are the same, 0 where they are as far apart as unit vectors of this many dimensions can be. */
function nearness(a: Float32Array, b: Float32Array): number {
  let distance = 0;
  for (let i = 0; i < a.length; i += 1) distance += Math.abs(a[i]! - b[i]!);
  return 1 - distance / (2 * Math.sqrt(a.length));
}
