import { defineRetriever, initialK, TOP_K } from './define.js';
import { scored } from './explain.js';
import { hitsByMetric, METRIC } from './metric.js';
import { factored, factorsOf } from './rerank/factors.js';

const OPTIONS = {
  initial_k: initialK(30),
  final_k: TOP_K,
  rerank_factors: { type: 'object', default: {}, description: 'Shares of similarity 0.7, recency 0.1, length 0.1 and metadata 0.1.' },
  length_normalization: { type: 'number', default: 1000, minimum: 1, maximum: 1_000_000, description: 'Code units that count as long.' },
  distance_metric: METRIC,
} as const;

/** The nearest chunks, put in order by what else is known of them: age, length, and what their metadata says. */
export const reranked = defineRetriever('RerankedStrategy', 'final_k', OPTIONS, async (query, options, means) => {
  const hits = await hitsByMetric(query, means, Math.max(options.initial_k, query.topK), options.distance_metric);
  const factors = factorsOf(options.rerank_factors);
  const nowMs = Date.now();
  return hits.map((hit) => {
    const { score, parts } = factored(hit, factors, options.length_normalization, nowMs);
    return scored(query, hit, score, { rerank_score: score, rerank_parts: parts });
  });
});
