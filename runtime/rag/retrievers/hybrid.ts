import { defineRetriever, TOP_K } from './define-retriever.js';
import { denseShare, minMax, RRF_K, rankFusion, weightedMean } from './fusion.js';
import { bothHits, hitsById, withScore } from './hits.js';

/** Candidates of each ranking at least, so that a hit that is middling in both is seen. */
const LEAST_CANDIDATES = 50;

const OPTIONS = {
  top_k: TOP_K,
  hybrid_alpha: {
    type: 'number',
    default: null,
    minimum: 0,
    maximum: 1,
    description: 'Share of the dense ranking; the rest is BM25. None = what suits the embedder and the question.',
    examples: [0.7],
  },
  fusion: {
    type: 'string',
    default: 'weighted',
    enum: ['weighted', 'rrf'],
    description: 'Scores brought to 0..1, or ranks.',
  },
  rrf_k: { type: 'integer', default: RRF_K, minimum: 1, maximum: 1000, description: 'The constant of reciprocal rank fusion.' },
  search_multiplier: {
    type: 'integer',
    default: 4,
    minimum: 1,
    maximum: 20,
    description: 'Candidates of each ranking per hit that comes out.',
  },
} as const;

/** Dense search and BM25 over the same question, fused. */
export const hybrid = defineRetriever('HybridRetriever', 'top_k', OPTIONS, async (query, options, means) => {
  const { dense, lexical } = await bothHits(query, means, Math.max(LEAST_CANDIDATES, query.topK * options.search_multiplier));
  const trust = options.hybrid_alpha === null ? means.denseTrust() : { share: options.hybrid_alpha, standing: 0 };
  const alpha = denseShare(trust, dense, lexical);
  const weights = [alpha, 1 - alpha];
  const { fusion } = options;
  // A side without weight must not bring its own hits in with a score of 0.
  const lists = [alpha > 0 ? dense : [], alpha < 1 ? lexical : []];
  const scores = fusion === 'rrf' ? rankFusion(lists, weights, options.rrf_k) : weightedMean(lists.map(minMax), weights);
  return [...hitsById(lists).values()].map((hit) => {
    const score = scores.get(hit.id)!;
    return withScore(query, hit, score, { fused_score: score, fusion, hybrid_alpha: alpha });
  });
});
