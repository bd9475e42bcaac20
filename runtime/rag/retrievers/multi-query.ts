import type { Hit } from '../contract.js';
import { defineRetriever, TOP_K } from './define-retriever.js';
import { frequencies, maximum, mean, rankFusion, weightedMean } from './fusion.js';
import { hitsById, withScore } from './hits.js';
import { questionsByModel, rewritesOf } from './rewrites.js';
import { BASE_STRATEGY } from './strategy-types.js';
import { METRIC } from './vector-metric.js';

const OPTIONS = {
  num_queries: { type: 'integer', default: 3, minimum: 1, maximum: 10, description: 'Ways to put the question, itself included.' },
  top_k: TOP_K,
  aggregation_method: {
    type: 'string',
    default: 'weighted',
    enum: ['max', 'mean', 'weighted', 'reciprocal_rank'],
    description: 'How the scores of the ways become one.',
  },
  search_multiplier: { type: 'integer', default: 2, minimum: 1, maximum: 10, description: 'Hits of each way per hit that comes out.' },
  query_weights: {
    type: 'array',
    default: [],
    items: { type: 'number' },
    maxItems: 10,
    description: 'Weights of the ways in their order; beyond them, and without, 1 / position.',
    examples: [[1, 0.7, 0.5]],
  },
  model_name: {
    type: 'string',
    default: null,
    description: 'A chat model of the project that rewrites the question; none = rules.',
    examples: ['default'],
  },
  distance_metric: METRIC,
  ...BASE_STRATEGY,
} as const;

function fused(method: string, lists: readonly (readonly Hit[])[], weights: readonly number[]): Map<string, number> {
  if (method === 'max') return maximum(lists);
  if (method === 'mean') return mean(lists);
  return method === 'weighted' ? weightedMean(lists, weights) : rankFusion(lists, weights);
}

function prompt(text: string, count: number): string {
  return `Write ${count} other search queries for the same information as the question below, in its language. Use other words. One per line, nothing else.\n\nQuestion: ${text}`;
}

/** Asks the question in several ways, and fuses what each finds. */
export const multiQuery = defineRetriever('MultiQueryStrategy', 'top_k', OPTIONS, async (query, options, means) => {
  const { num_queries: count, model_name: model } = options;
  const written =
    model === null || count < 2 ? [] : await questionsByModel(model, prompt(query.text, count - 1), count - 1, means, query.signal);
  const ways = written.length > 0 ? [query.text, ...written] : rewritesOf(query.text, count);
  const topK = query.topK * options.search_multiplier;
  const config = { distance_metric: options.distance_metric, ...options.base_strategy_config };
  const lists = await Promise.all(ways.map((text) => means.retrieve(options.base_strategy, config, { ...query, text, topK })));
  const weights = ways.map((_way, at) => Math.max(0, options.query_weights[at] ?? 1 / (at + 1)));
  const scores = fused(options.aggregation_method, lists, weights);
  const counts = frequencies(lists);
  return [...hitsById(lists).values()].map((hit) => {
    const score = scores.get(hit.id)!;
    const found = { ...hit, metadata: { ...hit.metadata, query_frequency: counts.get(hit.id)! } };
    return withScore(query, found, score, { fused_score: score, queries: ways });
  });
});
