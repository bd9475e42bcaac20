import { Failure } from '../../../schemas/errors.js';
import type { RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import { isObject } from '../../base/json.js';
import type { Metadata } from '../../documents/contract.js';
import type { DenseTrust } from './contract.js';
import { defineRetriever, TOP_K } from './define-retriever.js';
import { denseShare, diversified, minMax, type Ranking, rankFusion, scoreFusion, weightedMean } from './fusion.js';
import { hitsById, withScore } from './hits.js';
import { strategyType } from './strategy-types.js';

/** Candidates of each strategy at least. */
const LEAST_CANDIDATES = 50;
const LEAST_STRATEGIES = 2;

const OPTIONS = {
  strategies: {
    type: 'array',
    default: [],
    items: { type: 'object' },
    maxItems: 5,
    description: 'Two to five of {type, weight 0 to 1, config}; none = dense search and BM25, weighted by hybrid_alpha.',
    examples: [
      [
        { type: 'VectorRetriever', weight: 0.7 },
        { type: 'BM25Retriever', weight: 0.3 },
      ],
    ],
  },
  combination_method: {
    type: 'string',
    default: 'weighted_average',
    enum: ['weighted_average', 'rank_fusion', 'score_fusion'],
    description: 'The mean of the scores, reciprocal ranks, or the mean times the share of strategies that agree.',
  },
  normalize_scores: { type: 'boolean', default: true, description: 'Brings the scores of each strategy to 0..1 before they are combined.' },
  final_k: TOP_K,
  diversity_boost: { type: 'number', default: 0, minimum: 0, maximum: 1, description: 'How much a hit loses for being like a better one.' },
  hybrid_alpha: {
    type: 'number',
    default: null,
    minimum: 0,
    maximum: 1,
    description: 'Share of dense search where no strategies are named; the rest is BM25. None = what suits the embedder and the question.',
    examples: [0.7],
  },
} as const;

interface Member {
  readonly type: RetrievalStrategyType;
  readonly weight: number;
  readonly config: Metadata;
}

function memberOf(value: Metadata): Member {
  const { type, weight = 1, config = {} } = value;
  if (typeof weight !== 'number' || !(weight >= 0 && weight <= 1))
    throw new Failure(
      'invalid',
      `HybridUniversalStrategy.strategies has the weight ${JSON.stringify(weight)}; it must be a number from 0 to 1.`,
    );
  return { type: strategyType(type), weight, config: isObject(config) ? config : {} };
}

function membersOf(strategies: readonly Metadata[], { share }: DenseTrust): Member[] {
  if (strategies.length === 0)
    return [
      { type: 'BasicSimilarityStrategy', weight: share, config: {} },
      { type: 'BM25Retriever', weight: 1 - share, config: {} },
    ];
  if (strategies.length < LEAST_STRATEGIES)
    throw new Failure(
      'invalid',
      `HybridUniversalStrategy.strategies names ${strategies.length}; it must name 2 to 5, or none for dense search and BM25.`,
    );
  return strategies.map(memberOf);
}

function combineRankings(method: string, lists: readonly Ranking[], weights: readonly number[]): Map<string, number> {
  if (method === 'rank_fusion') return rankFusion(lists, weights);
  return method === 'score_fusion' ? scoreFusion(lists, weights) : weightedMean(lists, weights);
}

/** Asks several strategies and combines what they find. */
export const hybridUniversal = defineRetriever('HybridUniversalStrategy', 'final_k', OPTIONS, async (query, options, means) => {
  const { strategies: named, hybrid_alpha: alpha } = options;
  const trust = alpha === null ? means.denseTrust() : { share: alpha, standing: 0 };
  // A strategy without weight must not bring its own hits in with a score of 0.
  const members = membersOf(named, trust).filter((member) => member.weight > 0);
  const topK = Math.max(LEAST_CANDIDATES, query.topK);
  const lists = await Promise.all(members.map(({ type, config }) => means.retrieve(type, config, { ...query, topK })));
  const rankings = options.normalize_scores ? lists.map(minMax) : lists;
  const share = named.length === 0 && lists.length === 2 ? denseShare(trust, lists[0]!, lists[1]!) : undefined;
  const weights = share === undefined ? members.map((member) => member.weight) : [share, 1 - share];
  const scores = combineRankings(options.combination_method, rankings, weights);
  const ranks = lists.map((list) => new Map(list.map((hit, at) => [hit.id, at + 1])));
  const hits = [...hitsById(lists).values()].map((hit) => {
    const score = scores.get(hit.id)!;
    const strategies = members.map(({ type }, at) => ({ type, weight: weights[at]!, rank: ranks[at]!.get(hit.id) ?? null }));
    return withScore(query, hit, score, { fused_score: score, fusion: options.combination_method, strategies });
  });
  return options.diversity_boost > 0 ? diversified(hits, options.diversity_boost, query.topK) : hits;
});
