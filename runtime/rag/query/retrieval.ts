import { Failure } from '../../../schemas/errors.js';
import type { Database, EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import type { Outbound } from '../../net/outbound.js';
import type { Embedder } from '../embedders/contract.js';
import type { RetrievalQuery } from '../retrievers/contract.js';
import type { VectorStore } from '../stores/contract.js';
import type { Findings, Question, RagScope, Retrieval } from './contract.js';
import { type ModelMeans, meansOf } from './means.js';
import { kept, planOf, topKOf } from './plan.js';
import { databaseOf, embeddingOf, retrievalOf } from './resolve.js';

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
        return { hits, database: database.name, strategy: strategy.name, timeMs: performance.now() - startMs };
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

function queryOf(question: Question, text: string, topK: number, signal: AbortSignal): RetrievalQuery {
  const { filter, explain = false } = question;
  return { text, topK, explain, signal, ...(filter === undefined ? {} : { filter }) };
}
