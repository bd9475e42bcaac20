import { Failure } from '../../../schemas/errors.js';
import type { ProjectConfig } from '../../../schemas/generated/config/project.js';
import type { Database, EmbeddingStrategy, RetrievalStrategy, RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import type { Metadata } from '../../documents/contract.js';
import type { Hit } from '../contract.js';
import type { Retriever } from '../retrievers/contract.js';
import { RETRIEVERS } from '../retrievers/index.js';
import { MOST_HITS } from '../retrievers/retriever.js';
import type { Question } from './contract.js';

const namesOf = (things: readonly { name: string }[]): string => things.map((one) => one.name).join(', ') || 'none';

/** The default of a list: the one named so, else the first that is marked, else the first. A name that is not in the list is passed over. */
export function defaultOf<One extends { name: string; default?: boolean }>(
  list: readonly One[],
  name: string | undefined,
): One | undefined {
  return list.find((one) => one.name === name) ?? list.find((one) => one.default === true) ?? list[0];
}

/** The database that a question means. Throws `bad_request` where there is none, and `not_found` for a name that is unknown. */
export function databaseOf(config: ProjectConfig, name: string | undefined): Database {
  if (!config.rag)
    throw new Failure('bad_request', 'RAG not configured for this project: add a rag section with a database.', {
      code: 'RagNotConfigured',
    });
  const databases = config.rag.databases ?? [];
  if (name !== undefined) {
    const found = databases.find((one) => one.name === name);
    if (found) return found;
    throw new Failure('not_found', `Database '${name}' not found; this project has: ${namesOf(databases)}.`, { code: 'DatabaseNotFound' });
  }
  const found = defaultOf(databases, config.rag.default_database);
  if (found) return found;
  throw new Failure('bad_request', 'No database to ask: this project has none. Add one to rag.databases.', { code: 'NoDatabase' });
}

/** The retrieval strategy that a question means. Throws `bad_request` where there is none, and `not_found` for a name that is unknown. */
export function retrievalOf(database: Database, name: string | undefined): RetrievalStrategy {
  const strategies = database.retrieval_strategies ?? [];
  if (name !== undefined) {
    const found = strategies.find((one) => one.name === name);
    if (found) return found;
    const message = `Retrieval strategy '${name}' not found in database '${database.name}'; it has: ${namesOf(strategies)}.`;
    throw new Failure('not_found', message, { code: 'RetrievalStrategyNotFound' });
  }
  const found = defaultOf(strategies, database.default_retrieval_strategy);
  if (found) return found;
  const message = `No retrieval strategy to ask with: database '${database.name}' has none. Add one to its retrieval_strategies.`;
  throw new Failure('bad_request', message, { code: 'NoRetrievalStrategy' });
}

/** The strategy that embeds the documents and questions of a database. Throws `internal` where there is none. */
export function embeddingOf(database: Database): EmbeddingStrategy {
  const found = defaultOf(database.embedding_strategies ?? [], database.default_embedding_strategy);
  if (found) return found;
  const message = `Failed to perform RAG query: database '${database.name}' has no embedding strategy. Add one to its embedding_strategies.`;
  throw new Failure('internal', message, { code: 'NoEmbeddingStrategy' });
}

const DEFAULT_TOP_K = 5;
/** Code units of a token in a rough count. */
const TOKEN_UNITS = 4;
const DENSE_ONLY: ReadonlySet<RetrievalStrategyType> = new Set(['BasicSimilarityStrategy', 'VectorRetriever']);

/** A strategy with what the question changes about it. */
interface Plan {
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
export function withinLimits(hits: readonly Hit[], strategy: RetrievalStrategy, question: Question): Hit[] {
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
