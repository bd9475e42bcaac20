import { Failure } from '../../schemas/errors.js';
import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import type { Database, EmbeddingStrategy, RetrievalStrategy, RetrievalStrategyType } from '../../schemas/generated/config/rag.js';
import type { Metadata } from '../documents/contract.js';
import type { Outbound } from '../net/outbound.js';
import type { Filter, Findings, Hit, Question, RagScope, Retrieval } from './contract.js';
import type { Embedder } from './embedders/contract.js';
import type { RetrievalMeans, RetrievalQuery, Retriever } from './retrievers/contract.js';
import { DENSE_TRUST } from './retrievers/fusion.js';
import { MOST_HITS } from './retrievers/hits.js';
import { RETRIEVERS } from './retrievers/index.js';
import type { VectorStore } from './stores/contract.js';
import { conditionsOf, filteredValue } from './stores/metadata.js';

/** How a reranking model is asked. */
export interface RerankWork {
  readonly timeoutMs: number;
  /** True for scores from 0 to 1, false for those that the model itself gives. */
  readonly normalise: boolean;
  /** A request named the model, and no project file: it is not fetched where it is missing. */
  readonly isRequested?: boolean;
  readonly signal: AbortSignal;
}

/** What the models of a project can do for retrieval; absent where the runtime cannot. */
export interface ModelMeans {
  /** Relevance of each text to the query. */
  rerank?(model: ModelConfig, query: string, texts: readonly string[], how: RerankWork): Promise<number[]>;
  /** The answer to one prompt. */
  complete?(model: ModelConfig, prompt: string, maxTokens: number, signal: AbortSignal): Promise<string>;
}

/** What retrieval is made of. */
export interface RetrievalParts extends ModelMeans {
  /** The open store of a database; closed by whoever opened it. */
  openStore(scope: RagScope, database: Database): Promise<VectorStore>;
  embedderFor(scope: RagScope, database: Database, strategy: EmbeddingStrategy): Embedder;
  readonly outbound: Outbound;
}

/** Asks the databases of projects by their configuration. */
export function createRetrieval(parts: RetrievalParts): Retrieval {
  return {
    async ask(scope, question, signal, onStep): Promise<Findings> {
      const startMs = performance.now();
      signal.throwIfAborted();
      const database = databaseOf(scope.config, question.database);
      const strategy = retrievalOf(database, question.strategy);
      const text = question.text.trim();
      if (text === '') throw new Failure('invalid', 'The query is empty; write what to look for.', { code: 'EmptyQuery' });
      const plan = planOf(strategy, question);
      const query = queryOf(question, text, topKOf(strategy, question), signal);
      try {
        const store = await parts.openStore(scope, database);
        const embedder = (): Embedder => parts.embedderFor(scope, database, embeddingOf(database));
        const means = meansOf({
          scope,
          database,
          store,
          embedder,
          models: parts,
          outbound: parts.outbound,
          requestedReranker: question.rerankModel,
          signal,
          onStep,
        });
        const hits = withinLimits(await means.retrieve(plan.type, plan.options, query), strategy, question);
        const warnings = hits.length > 0 || !query.filter ? [] : await unknownKeys(query, query.filter, store, means);
        return { hits, database: database.name, strategy: strategy.name, timeMs: performance.now() - startMs, warnings };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Failure) throw error;
        throw new Failure('internal', `Failed to perform RAG query: the search in database '${database.name}' broke.`, {
          code: 'SearchFailed',
          cause: error,
        });
      }
    },
  };
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

const namesOf = (things: readonly { name: string }[]): string => things.map((one) => one.name).join(', ') || 'none';

/** The default of a list: the one named so, else the first that is marked, else the first. A name that is not in the list is passed over. */
export function defaultOf<One extends { name: string; default?: boolean }>(
  list: readonly One[],
  name: string | undefined,
): One | undefined {
  return list.find((one) => one.name === name) ?? list.find((one) => one.default === true) ?? list[0];
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

/** A strategy with what the question changes about it. */
interface Plan {
  readonly type: RetrievalStrategyType;
  readonly options: Metadata;
}

/** Code units of a token in a rough count. */
const TOKEN_UNITS = 4;
const DENSE_ONLY: ReadonlySet<RetrievalStrategyType> = new Set(['BasicSimilarityStrategy', 'VectorRetriever']);

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

function queryOf(question: Question, text: string, topK: number, signal: AbortSignal): RetrievalQuery {
  const { filter, explain = false } = question;
  return { text, topK, explain, signal, ...(filter === undefined ? {} : { filter }) };
}

const DEFAULT_TOP_K = 5;

/** How many hits come out: what the question says, else the strategy's configuration, else 5. */
export function topKOf(strategy: RetrievalStrategy, question: Question): number {
  const config: Metadata = strategy.config ?? {};
  const wanted = question.topK ?? numberOf(config[retrieverOf(strategy.type).size]) ?? numberOf(config.top_k) ?? DEFAULT_TOP_K;
  return Math.min(MOST_HITS, Math.max(1, Math.trunc(wanted)));
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** The retriever of a type. Throws `bad_request` naming the known ones. */
export function retrieverOf(type: RetrievalStrategyType): Retriever {
  if (Object.hasOwn(RETRIEVERS, type)) return RETRIEVERS[type];
  throw new Failure('bad_request', `The retrieval strategy type '${type}' is unknown; known are ${Object.keys(RETRIEVERS).join(', ')}.`);
}

/** The strategy that embeds the documents and questions of a database. Throws `internal` where there is none. */
export function embeddingOf(database: Database): EmbeddingStrategy {
  const found = defaultOf(database.embedding_strategies ?? [], database.default_embedding_strategy);
  if (found) return found;
  const message = `Failed to perform RAG query: database '${database.name}' has no embedding strategy. Add one to its embedding_strategies.`;
  throw new Failure('internal', message, { code: 'NoEmbeddingStrategy' });
}

/** What the means of one question are made of. */
export interface MeansParts {
  readonly scope: RagScope;
  readonly database: Database;
  readonly store: VectorStore;
  /** Opened at the first use: not every strategy embeds. */
  readonly embedder: () => Embedder;
  readonly models: ModelMeans;
  readonly outbound: Outbound;
  /** The reranking model that the question names itself. */
  readonly requestedReranker?: string | undefined;
  readonly signal: AbortSignal;
  /** As in `Retrieval.ask`. */
  readonly onStep?: ((step: string) => void) | undefined;
}

/** Strategies inside strategies; each level multiplies the searches of one question. */
const DEEPEST_NESTING = 4;

/** The means for one question. A question that is embedded twice is embedded once. */
export function meansOf(parts: MeansParts): RetrievalMeans {
  const { scope, store, models, outbound, signal, onStep } = parts;
  const embedded = new Map<string, Promise<Float32Array[]>>();
  const embedQuery = (text: string): Promise<Float32Array[]> => {
    if (!embedded.has(text)) onStep?.('Embedding the question');
    const known = embedded.get(text) ?? parts.embedder().embed([text], 'query', 'interactive', signal);
    embedded.set(text, known);
    return known;
  };
  const at = (depth: number): RetrievalMeans => ({
    outbound,
    embed: async (texts, purpose = 'query') =>
      purpose === 'query' && texts.length === 1 ? embedQuery(texts[0]!) : parts.embedder().embed(texts, purpose, 'interactive', signal),
    search: (query) => {
      onStep?.('Searching');
      return store.query(query, signal);
    },
    denseTrust: () => DENSE_TRUST[parts.embedder().type === 'LexicalEmbedder' ? 'words' : 'model'],
    rerank: async (name, query, texts, timeoutMs, normalise) => {
      if (!models.rerank) throw abilityMissing(name, 'reranking');
      onStep?.(`Reranking ${texts.length} passages`);
      const how = { timeoutMs, normalise, signal };
      const own = scope.config.runtime?.models.find((one) => one.name === name);
      if (own) return models.rerank(own, query, texts, how);
      // Not one of the project's models: the id of one of our own runtime, as command lines give it.
      const isRequested = name === parts.requestedReranker;
      return models.rerank({ name, provider: 'universal', model: name }, query, texts, { ...how, isRequested }).catch((error: unknown) => {
        throw error instanceof Failure && error.kind === 'not_found' ? unknownModel(scope, name, error) : error;
      });
    },
    complete: async (name, prompt, maxTokens) => {
      const model = projectModel(scope, name);
      if (!models.complete) throw abilityMissing(name, 'chat for retrieval');
      onStep?.(`Asking the model ${name}`);
      return models.complete(model, prompt, maxTokens, signal);
    },
    retrieve: async (type, options, query) => {
      if (depth >= DEEPEST_NESTING)
        throw new Failure('bad_request', `Retrieval strategies are nested deeper than ${DEEPEST_NESTING} levels, down to '${type}'.`);
      return retrieverOf(type).retrieve(query, options, at(depth + 1));
    },
  });
  return at(0);
}

function abilityMissing(name: string, what: string): Failure {
  return new Failure('unavailable', `Model '${name}' cannot be asked: this runtime has no ${what}.`, { code: 'ModelUnavailable' });
}

/** `cause`: why it is no model of the runtime either. */
function unknownModel({ config }: RagScope, name: string, cause?: Failure): Failure {
  const known = config.runtime?.models.map((one) => one.name).join(', ') || 'none';
  const also = cause ? ` ${cause.message}` : '';
  return new Failure('not_found', `Model '${name}' of the retrieval strategy is not in runtime.models; known are: ${known}.${also}`, {
    code: 'ModelNotFound',
    cause,
  });
}

function projectModel(scope: RagScope, name: string): ModelConfig {
  const found = scope.config.runtime?.models.find((one) => one.name === name);
  if (found) return found;
  throw unknownModel(scope, name);
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

/** Chunks whose keys are compared with those of a filter that lets nothing through. */
const CHUNKS_LOOKED_AT = 100;
const MOST_KEYS = 100;

/** Names the keys of a filter that none of the chunks nearest to the question has, and those that they have. */
async function unknownKeys(query: RetrievalQuery, filter: Filter, store: VectorStore, means: RetrievalMeans): Promise<string[]> {
  const paths = [...new Set(conditionsOf(filter).map(({ path }) => path))];
  try {
    const [vector] = await means.embed([query.text]);
    const { dense: near } = await store.query({ vector: vector!, k: CHUNKS_LOOKED_AT }, query.signal);
    const unknown = paths.filter((path) => near.every(({ metadata }) => filteredValue(metadata, path) === undefined));
    if (near.length === 0 || unknown.length === 0) return [];
    const known = [...new Set(near.flatMap(({ metadata }) => Object.keys(metadata)))].sort().slice(0, MOST_KEYS);
    const names = unknown.map((path) => `'${path}'`).join(', ');
    return [`The filter names ${names}, which none of the ${near.length} chunks nearest to the query has; they have: ${known.join(', ')}.`];
  } catch (error) {
    query.signal.throwIfAborted();
    if (error instanceof Failure) return [];
    throw error;
  }
}
