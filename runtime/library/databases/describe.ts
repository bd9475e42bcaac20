import type { ProjectConfig } from '../../../schemas/generated/config/project.js';
import type { Database } from '../../../schemas/generated/config/rag.js';
import type { DatabaseDetail, DatabaseSummary } from '../../../schemas/generated/core/rag.js';
import type { JsonObject } from '../../base/json.js';
import { withoutSecrets } from '../../config/secrets.js';
import { defaultOf } from '../../rag/retrieval.js';

const configWithoutSecrets = (config: JsonObject | undefined): JsonObject => withoutSecrets(config ?? {});

/** A database as lists show it. */
export function summaryOf(database: Database, isDefault: boolean): DatabaseSummary {
  const embeddings = database.embedding_strategies ?? [];
  const retrievals = database.retrieval_strategies ?? [];
  const embedding = defaultOf(embeddings, database.default_embedding_strategy);
  const retrieval = defaultOf(retrievals, database.default_retrieval_strategy);
  return {
    name: database.name,
    type: database.type,
    is_default: isDefault,
    embedding_strategies: embeddings.map((one) => ({
      name: one.name,
      type: one.type,
      priority: one.priority ?? 0,
      is_default: one === embedding,
    })),
    retrieval_strategies: retrievals.map((one) => ({ name: one.name, type: one.type, is_default: one === retrieval })),
  };
}

/** A database with everything that is configured of it, but for secrets, which come as `***`. */
export function detailOf(config: ProjectConfig, database: Database): DatabaseDetail {
  const embeddings = database.embedding_strategies ?? [];
  const retrievals = database.retrieval_strategies ?? [];
  const retrieval = defaultOf(retrievals, database.default_retrieval_strategy);
  return {
    name: database.name,
    type: database.type,
    config: configWithoutSecrets(database.config),
    embedding_strategies: embeddings.map((one) => ({
      name: one.name,
      type: one.type,
      config: configWithoutSecrets(one.config),
      priority: one.priority ?? 0,
    })),
    retrieval_strategies: retrievals.map((one) => ({
      name: one.name,
      type: one.type,
      config: configWithoutSecrets(one.config),
      default: one === retrieval,
    })),
    default_embedding_strategy: defaultOf(embeddings, database.default_embedding_strategy)?.name ?? null,
    default_retrieval_strategy: retrieval?.name ?? null,
    dependent_datasets: dependants(config, database.name),
  };
}

/** Names of the datasets that use a database. */
export function dependants(config: ProjectConfig, database: string): string[] {
  return (config.datasets ?? []).filter((dataset) => dataset.database === database).map(({ name }) => name);
}
