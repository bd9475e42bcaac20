import type { RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import { defineRetriever, TOP_K } from './define-retriever.js';
import { lexicalHits } from './hits.js';
import { hitsByMetric, METRIC } from './vector-metric.js';

const OPTIONS = {
  top_k: TOP_K,
  distance_metric: METRIC,
  score_threshold: { type: 'number', default: null, minimum: 0, maximum: 1, description: 'Least score of a hit.', examples: [0.3] },
} as const;

function nearest(type: RetrievalStrategyType) {
  return defineRetriever(type, 'top_k', OPTIONS, async (query, options, means) => {
    const hits = await hitsByMetric(query, means, query.topK, options.distance_metric);
    return hits.filter((hit) => hit.score >= (options.score_threshold ?? Number.NEGATIVE_INFINITY));
  });
}

/** The chunks whose vectors are nearest to the question's. */
export const basicSimilarity = nearest('BasicSimilarityStrategy');

/** The same under its older name. */
export const vector = nearest('VectorRetriever');

/** The chunks that share words with the question, by BM25; needs no embedding. */
export const bm25 = defineRetriever('BM25Retriever', 'top_k', { top_k: TOP_K }, (query, _options, means) =>
  lexicalHits(query, means, query.topK),
);
