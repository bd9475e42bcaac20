// The names of the retrieval strategies, and how a strategy names the one that it builds on.

import { Failure } from '../../../schemas/errors.js';
import type { RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';

/** Every name of a strategy. */
export const STRATEGY_TYPES = [
  'VectorRetriever',
  'HybridRetriever',
  'BM25Retriever',
  'RerankedRetriever',
  'GraphRetriever',
  'ElasticRetriever',
  'BasicSimilarityStrategy',
  'MetadataFilteredStrategy',
  'MultiQueryStrategy',
  'RerankedStrategy',
  'HybridUniversalStrategy',
  'CrossEncoderRerankedStrategy',
  'MultiTurnRAGStrategy',
] as const satisfies readonly RetrievalStrategyType[];

/** Short names that strategies inside a strategy may have. */
const ALIASES: Readonly<Record<string, RetrievalStrategyType>> = {
  basic: 'BasicSimilarityStrategy',
  vector: 'VectorRetriever',
  filtered: 'MetadataFilteredStrategy',
  multi_query: 'MultiQueryStrategy',
  reranked: 'RerankedStrategy',
  bm25: 'BM25Retriever',
  hybrid: 'HybridRetriever',
  graph: 'GraphRetriever',
};

/** The type of a strategy inside a strategy, which may be given by a short name. Throws `invalid`. */
export function strategyType(name: unknown): RetrievalStrategyType {
  const key = String(name).toLowerCase();
  const found = STRATEGY_TYPES.find((type) => type.toLowerCase() === key) ?? (Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined);
  if (found) return found;
  const known = [...STRATEGY_TYPES, ...Object.keys(ALIASES)].join(', ');
  throw new Failure('invalid', `A strategy inside a strategy has the type ${JSON.stringify(name)?.slice(0, 100)}; known are ${known}.`);
}

/** The strategy below another one. */
export const BASE_STRATEGY = {
  base_strategy: {
    type: 'string',
    default: 'BasicSimilarityStrategy',
    enum: STRATEGY_TYPES,
    description: 'The strategy that finds the hits to begin with.',
  },
  base_strategy_config: { type: 'object', default: {}, description: 'Its options.' },
} as const;
