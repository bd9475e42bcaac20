import { Failure } from '../../../schemas/errors.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { Database, EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import type { Outbound } from '../../net/outbound.js';
import type { Embedder } from '../embedders/contract.js';
import type { RetrievalMeans, RetrievalQuery } from '../retrievers/contract.js';
import { DENSE_TRUST } from '../retrievers/fusion.js';
import type { Filter, VectorStore } from '../stores/contract.js';
import { conditionsOf, filteredValue } from '../stores/filter.js';
import type { Findings, Question, RagScope, Retrieval } from './contract.js';
import { databaseOf, embeddingOf, planOf, retrievalOf, retrieverOf, topKOf, withinLimits } from './plan.js';

/** Strategies inside strategies; each level multiplies the searches of one question. */
const DEEPEST_NESTING = 4;

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

function modelOf(scope: RagScope, name: string): ModelConfig {
  const found = scope.config.runtime?.models.find((one) => one.name === name);
  if (found) return found;
  throw unknownModel(scope, name);
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

function lacking(name: string, what: string): Failure {
  return new Failure('unavailable', `Model '${name}' cannot be asked: this runtime has no ${what}.`, { code: 'ModelUnavailable' });
}

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
      if (!models.rerank) throw lacking(name, 'reranking');
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
      const model = modelOf(scope, name);
      if (!models.complete) throw lacking(name, 'chat for retrieval');
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

/** Chunks whose keys are compared with those of a filter that lets nothing through. */
const CHUNKS_LOOKED_AT = 100;
const MOST_KEYS = 100;

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

function queryOf(question: Question, text: string, topK: number, signal: AbortSignal): RetrievalQuery {
  const { filter, explain = false } = question;
  return { text, topK, explain, signal, ...(filter === undefined ? {} : { filter }) };
}
