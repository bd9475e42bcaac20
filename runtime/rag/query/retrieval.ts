import { Failure } from '../../../schemas/errors.js';
import type { Database, EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import type { Outbound } from '../../net/outbound.js';
import type { Embedder } from '../embedders/contract.js';
import type { RetrievalMeans, RetrievalQuery } from '../retrievers/contract.js';
import type { Filter, VectorStore } from '../stores/contract.js';
import { conditionsOf, filteredValue } from '../stores/filter.js';
import type { Findings, Question, RagScope, Retrieval } from './contract.js';
import { type ModelMeans, meansOf } from './means.js';
import { kept, planOf, topKOf } from './plan.js';
import { databaseOf, embeddingOf, retrievalOf } from './resolve.js';

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
    async ask(scope, question, signal): Promise<Findings> {
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
        const means = meansOf({ scope, database, store, embedder, models: parts, outbound: parts.outbound, signal });
        const hits = kept(await means.retrieve(plan.type, plan.options, query), strategy, question);
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
