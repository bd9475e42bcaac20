import { Failure } from '../../../schemas/errors.js';
import type { ProjectConfig } from '../../../schemas/generated/config/project.js';
import type { Database, EmbeddingStrategy, RetrievalStrategy } from '../../../schemas/generated/config/rag.js';

const named = (things: readonly { name: string }[]): string => things.map((one) => one.name).join(', ') || 'none';

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
    throw new Failure('not_found', `Database '${name}' not found; this project has: ${named(databases)}.`, { code: 'DatabaseNotFound' });
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
    const message = `Retrieval strategy '${name}' not found in database '${database.name}'; it has: ${named(strategies)}.`;
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
