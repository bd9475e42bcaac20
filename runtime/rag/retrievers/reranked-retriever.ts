import { RERANKING } from './cross-encoder.js';
import { defineRetriever, initialK, TOP_K } from './define-retriever.js';
import { withScore } from './hits.js';
import { keywordsOf, stemOf } from './rewrites.js';
import { STRATEGY_TYPES } from './strategy-types.js';

const OPTIONS = {
  top_k: TOP_K,
  initial_k: initialK(30),
  model_name: {
    type: 'string',
    default: null,
    description: 'A reranking model of the project; none = the share of the question a text covers.',
    examples: ['reranker'],
  },
  coverage_weight: {
    type: 'number',
    default: 0.3,
    minimum: 0,
    maximum: 1,
    description: 'Weight of that share beside the score from before.',
  },
  base_strategy: {
    type: 'string',
    default: 'HybridRetriever',
    enum: STRATEGY_TYPES,
    description: 'The strategy that finds the hits to begin with.',
  },
  base_strategy_config: { type: 'object', default: {}, description: 'Its options.' },
  ...RERANKING,
} as const;

const stems = (text: string): Set<string> => new Set(keywordsOf(text).map((word) => stemOf(word.toLowerCase())));

/** Which share of the question's keywords a text has, 0 to 1, without regard to common endings. */
export function coverageOf(question: string, text: string): number {
  const wanted = stems(question);
  if (wanted.size === 0) return 0;
  const found = new Set(stems(text));
  return [...wanted].filter((stem) => found.has(stem)).length / wanted.size;
}

/** Hybrid hits put in order anew: by a reranking model where one is named, else by how much of the question each text covers. */
export const rerankedRetriever = defineRetriever('RerankedRetriever', 'top_k', OPTIONS, async (query, options, means) => {
  const { model_name: model, coverage_weight: weight } = options;
  if (model !== null) return means.retrieve('CrossEncoderRerankedStrategy', { ...options }, query);
  const hits = await means.retrieve(options.base_strategy, options.base_strategy_config, {
    ...query,
    topK: Math.max(options.initial_k, query.topK),
  });
  return hits.map((hit, at) => {
    const coverage = coverageOf(query.text, hit.text);
    const score = (1 - weight) * hit.score + weight * coverage;
    return withScore(query, hit, score, { base_rank: at + 1, base_score: hit.score, coverage, rerank_score: score });
  });
});
