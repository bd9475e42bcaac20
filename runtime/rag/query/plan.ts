import { Failure } from '../../../schemas/errors.js';
import type { RetrievalStrategy, RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import type { Metadata } from '../../documents/contract.js';
import type { Hit } from '../contract.js';
import type { Retriever } from '../retrievers/contract.js';
import { MOST_HITS } from '../retrievers/define.js';
import { RETRIEVERS } from '../retrievers/index.js';
import type { Question } from './contract.js';

const DEFAULT_TOP_K = 5;
/** Code units of a token in a rough count. */
const TOKEN_UNITS = 4;
const DENSE_ONLY: ReadonlySet<RetrievalStrategyType> = new Set(['BasicSimilarityStrategy', 'VectorRetriever']);

/** A strategy with what the question changes about it. */
export interface Plan {
  readonly type: RetrievalStrategyType;
  readonly options: Metadata;
}

/** The retriever of a type. Throws `bad_request` naming the known ones. */
export function retrieverOf(type: RetrievalStrategyType): Retriever {
  if (Object.hasOwn(RETRIEVERS, type)) return RETRIEVERS[type];
  throw new Failure('bad_request', `The retrieval strategy type '${type}' is unknown; known are ${Object.keys(RETRIEVERS).join(', ')}.`);
}

/** What is really asked: the configured strategy, told what the question says of it, and wrapped where the question wants more. */
export function planOf(strategy: RetrievalStrategy, question: Question): Plan {
  const { distanceMetric, hybridAlpha, rerankModel, queryExpansion } = question;
  let type = strategy.type;
  let options: Metadata = { ...strategy.config };
  if (distanceMetric !== undefined) options.distance_metric = distanceMetric;
  if (hybridAlpha !== undefined) {
    options.hybrid_alpha = hybridAlpha;
    if (DENSE_ONLY.has(type)) type = 'HybridRetriever';
  }
  if (queryExpansion === true && type !== 'MultiQueryStrategy') {
    options = { base_strategy: type, base_strategy_config: options };
    type = 'MultiQueryStrategy';
  }
  if (rerankModel === undefined) return { type, options };
  if (type === 'CrossEncoderRerankedStrategy') return { type, options: { ...options, model_name: rerankModel } };
  return { type: 'CrossEncoderRerankedStrategy', options: { model_name: rerankModel, base_strategy: type, base_strategy_config: options } };
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** How many hits come out: what the question says, else the strategy's configuration, else 5. */
export function topKOf(strategy: RetrievalStrategy, question: Question): number {
  const config: Metadata = strategy.config ?? {};
  const wanted = question.topK ?? numberOf(config[retrieverOf(strategy.type).size]) ?? numberOf(config.top_k) ?? DEFAULT_TOP_K;
  return Math.min(MOST_HITS, Math.max(1, Math.trunc(wanted)));
}

/** The hits that reach the threshold of the question, else of the strategy's configuration, and fit into the question's tokens. */
export function kept(hits: readonly Hit[], strategy: RetrievalStrategy, question: Question): Hit[] {
  const threshold = question.threshold ?? numberOf((strategy.config as Metadata | undefined)?.score_threshold);
  const above = threshold === undefined ? [...hits] : hits.filter((hit) => hit.score >= threshold);
  if (question.maxTokens === undefined) return above;
  let left = question.maxTokens * TOKEN_UNITS;
  const end = above.findIndex((hit) => {
    left -= hit.text.length;
    return left < 0;
  });
  return end < 0 ? above : above.slice(0, Math.max(1, end));
}
