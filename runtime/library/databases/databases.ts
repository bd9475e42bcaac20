import { Failure } from '../../../schemas/errors.js';
import type { ProjectConfig } from '../../../schemas/generated/config/project.js';
import type { Database } from '../../../schemas/generated/config/rag.js';
import type { DatabaseCreate, DatabaseDetail, DatabaseList, DatabaseSummary, DatabaseUpdate } from '../../../schemas/generated/core/rag.js';
import { withoutHostSecrets } from '../../../schemas/secrets.js';
import { check } from '../../../schemas/validate.js';
import { isObject, type JsonObject } from '../../base/json.js';
import { log } from '../../base/log.js';
import { checkTree, MAX_SENT_MEMBERS, Unparsable } from '../../config/parse.js';
import { resolveReferences } from '../../config/references.js';
import { withoutSecrets, withSecretsOf } from '../../config/secrets.js';
import type { Projects } from '../../projects/projects.js';
import type { OpenedStores } from '../../rag/opened-stores.js';
import { databaseOf, defaultOf } from '../../rag/retrieval.js';
import { DEFAULT_COLLECTION } from '../../rag/stores/options.js';

/** A database that was removed. */
export interface RemovedDatabase {
  readonly detail: DatabaseDetail;
  /** What could not be removed with it, and where it stays; null where nothing stays that should have gone. */
  readonly leftBehind: string | null;
}

/** The databases of projects: entries of their files, and the stores behind them. */
export class Databases {
  readonly #projects: Projects;
  readonly #stores: OpenedStores;

  constructor({ projects, stores }: { projects: Projects; stores: OpenedStores }) {
    this.#projects = projects;
    this.#stores = stores;
  }

  /** All of them, in the order of the file. Throws `bad_request` without a `rag` section. */
  list(namespace: string, project: string): DatabaseList {
    const { config } = this.#projects.load(namespace, project);
    const { rag } = config;
    if (!rag) throw notConfigured();
    return {
      databases: (rag.databases ?? []).map((database) => summaryOf(database, isDefault(config, database.name))),
      default_database: rag.default_database ?? null,
    };
  }

  /** One of them. Throws `not_found` naming the known ones. */
  get(namespace: string, project: string, name: string): DatabaseDetail {
    const { config } = this.#projects.load(namespace, project);
    return detailOf(config, databaseOf(config, name));
  }

  /**
   * Adds one. Throws `conflict` for a name that is taken, and `bad_request` for what cannot be one: a reference beside a list, an unknown
   * reference, no strategy at all, a wrong type.
   */
  async create(namespace: string, project: string, wanted: DatabaseCreate): Promise<DatabaseSummary> {
    const loaded = await this.#projects.edit(namespace, project, (raw) => {
      const rag = rawRag(raw);
      const databases = rawDatabases(rag);
      if (databases.some((one) => isObject(one) && one.name === wanted.name)) {
        throw new Failure('conflict', `Database '${wanted.name}' already exists in ${namespace}/${project}. Choose another name.`, {
          code: 'DatabaseExists',
        });
      }
      return { ...raw, rag: { ...rag, databases: [...databases, newEntry(raw, wanted)] } };
    });
    return summaryOf(databaseOf(loaded.config, wanted.name), isDefault(loaded.config, wanted.name));
  }

  /** Changes one. Throws `not_found`, and `bad_request` for a default that its list does not have. */
  async update(namespace: string, project: string, name: string, change: DatabaseUpdate): Promise<DatabaseDetail> {
    const loaded = await this.#projects.edit(namespace, project, (raw) => {
      // As the file is now, in its resolved form: a reference cannot be changed in part.
      const current = databaseOf(this.#projects.load(namespace, project).config, name);
      const rag = rawRag(raw);
      const databases = rawDatabases(rag).map((one) => (isObject(one) && one.name === name ? changedEntry(one, current, change) : one));
      return { ...raw, rag: { ...rag, databases } };
    });
    return detailOf(loaded.config, databaseOf(loaded.config, name));
  }

  /**
   * Removes one, and with `collection` what it holds. Its entry goes also when its store cannot be asked, such as a server that is gone;
   * `leftBehind` then says what stays where. Throws `not_found`, and `conflict` while datasets use it.
   */
  async delete(namespace: string, project: string, name: string, { collection }: { collection: boolean }): Promise<RemovedDatabase> {
    const { config, directory } = this.#projects.load(namespace, project);
    const database = databaseOf(config, name);
    const detail = detailOf(config, database);
    refuseDependants(config, name);
    let leftBehind: string | null = null;
    if (collection) {
      await this.#stores.drop({ namespace, project, directory }, database).catch((cause: unknown) => {
        leftBehind = leftBehindOf(database, cause);
        log('warn', 'a database was removed, but not what its store holds', { project: `${namespace}/${project}`, database: name, cause });
      });
    }
    await this.#projects.edit(namespace, project, (raw) => {
      const rag = { ...rawRag(raw) };
      rag.databases = rawDatabases(rag).filter((one) => !isObject(one) || one.name !== name);
      if (rag.default_database === name) delete rag.default_database;
      return { ...raw, rag };
    });
    return { detail: { ...detail, dependent_datasets: [] }, leftBehind };
  }
}

function notConfigured(): Failure {
  return new Failure('bad_request', 'RAG not configured for this project. Add a rag section to the project file.', {
    code: 'RagNotConfigured',
  });
}

/** A database as lists show it. */
function summaryOf(database: Database, isDefault: boolean): DatabaseSummary {
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

function isDefault(config: ProjectConfig, name: string): boolean {
  return name === defaultOf(config.rag?.databases ?? [], config.rag?.default_database)?.name;
}

/** A database with everything that is configured of it, but for secrets, which come as `***`. */
function detailOf(config: ProjectConfig, database: Database): DatabaseDetail {
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
    dependent_datasets: datasetsUsing(config, database.name),
  };
}

const configWithoutSecrets = (config: JsonObject | undefined): JsonObject => withoutSecrets(config ?? {});

/** Names of the datasets that use a database. */
function datasetsUsing(config: ProjectConfig, database: string): string[] {
  return (config.datasets ?? []).filter((dataset) => dataset.database === database).map(({ name }) => name);
}

function rawRag(raw: JsonObject): JsonObject {
  if (isObject(raw.rag)) return raw.rag;
  throw notConfigured();
}

function rawDatabases(rag: JsonObject): unknown[] {
  return Array.isArray(rag.databases) ? rag.databases : [];
}

/** The lists of a database, each with the fields that name its default and a component. */
const KINDS = [
  { list: 'embedding_strategies', fallback: 'default_embedding_strategy', reference: 'embedding_strategy', word: 'embedding' },
  { list: 'retrieval_strategies', fallback: 'default_retrieval_strategy', reference: 'retrieval_strategy', word: 'retrieval' },
] as const;

/** The entry of a new database, with its references resolved. */
function newEntry(raw: JsonObject, wanted: DatabaseCreate): JsonObject {
  checkEntry(wanted.name, wanted);
  const entry: JsonObject = {};
  for (const [key, value] of Object.entries(wanted))
    if (value !== null && value !== undefined) entry[key] = withSecretsOf(value as JsonObject, undefined, ['body', key]);
  for (const { list, reference } of KINDS) {
    if (entry[reference] !== undefined && entry[list] !== undefined) {
      throw invalidDatabase(wanted.name, `either ${reference} reference or ${list} inline, not both`);
    }
  }
  const rag: JsonObject = { databases: [entry] };
  const components = isObject(raw.rag) ? raw.rag.components : undefined;
  if (components !== undefined) rag.components = structuredClone(components);
  const scratch: JsonObject = { rag };
  if (raw.components !== undefined) scratch.components = structuredClone(raw.components);
  const problem = resolveReferences(scratch).find(({ path }) => path[1] === 'databases');
  if (problem) throw invalidDatabase(wanted.name, problem.reason);
  for (const { list, word } of KINDS) {
    if (!Array.isArray(entry[list]) || entry[list].length === 0)
      throw invalidDatabase(wanted.name, `No ${word} strategy provided or resolved`);
  }
  return checkSchema(entry);
}

/** Throws `bad_request` for an entry that no project file may hold. */
function checkEntry(name: string, entry: unknown): void {
  try {
    checkTree(entry, MAX_SENT_MEMBERS);
  } catch (cause) {
    if (!(cause instanceof Unparsable)) throw cause;
    throw invalidDatabase(name, cause.message);
  }
}

function invalidDatabase(name: string, reason: string, cause?: unknown): Failure {
  return new Failure('bad_request', `Invalid database configuration of '${name}': ${reason}.`, { code: 'InvalidDatabase', cause });
}

/** The entry itself, if it can be a database. */
function checkSchema(entry: JsonObject): JsonObject {
  const copy = structuredClone(entry);
  try {
    check<Database>('config/rag#Database', copy, 'body');
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    throw invalidDatabase(String(entry.name), failure.message, failure);
  }
  for (const { list, fallback } of KINDS) {
    const known = (copy[list] as JsonObject[]).map((one) => String(one.name));
    const named = copy[fallback];
    if (typeof named === 'string' && !known.includes(named)) {
      throw invalidDatabase(String(entry.name), `${fallback} '${named}' is not one of its strategies (${known.join(', ')})`);
    }
  }
  return entry;
}

/** A database entry of the file with a change applied; a list that changes takes the place of a reference, and a secret shown as `***` stays. */
function changedEntry(entry: JsonObject, current: Database, change: DatabaseUpdate): JsonObject {
  checkEntry(current.name, change);
  const next: JsonObject = { ...entry };
  if (change.config) next.config = withSecretsOf(change.config as JsonObject, current.config, ['body', 'config']);
  for (const { list, fallback, reference, word } of KINDS) {
    const replaced = change[list];
    const named = change[fallback];
    if (replaced) {
      if (replaced.length === 0) throw invalidDatabase(current.name, `No ${word} strategy provided or resolved`);
      next[list] = withSecretsOf(replaced as JsonObject[], current[list], ['body', list]);
      delete next[reference];
    }
    const known = (replaced ?? current[list] ?? []).map((one) => String(one.name));
    if (named && !known.includes(named)) {
      throw invalidDatabase(current.name, `${fallback} '${named}' is not one of its strategies (${known.join(', ')})`);
    }
    if (named) next[fallback] = named;
    else if (replaced && typeof next[fallback] === 'string' && !known.includes(next[fallback])) delete next[fallback];
  }
  const whole: JsonObject = { ...next };
  for (const { reference, list } of KINDS) {
    if (whole[list] === undefined && current[list]) whole[list] = structuredClone(current[list]) as unknown as JsonObject[];
    delete whole[reference];
  }
  checkSchema(whole);
  return next;
}

function refuseDependants(config: ProjectConfig, name: string): void {
  const datasets = datasetsUsing(config, name);
  if (datasets.length === 0) return;
  throw new Failure(
    'conflict',
    `Database '${name}' cannot be deleted: ${datasets.length} dataset(s) depend on it (${datasets.join(', ')}). Delete or reassign them first.`,
    { code: 'DatabaseInUse' },
  );
}

/** What stays of a database whose store could not be removed. */
function leftBehindOf(database: Database, cause: unknown): string {
  const reason = cause instanceof Failure ? cause.message.replace(/\.$/, '') : 'see the log';
  const { host, collection_name: collection = DEFAULT_COLLECTION } = database.config ?? {};
  if (typeof host !== 'string') return `What the store of database '${database.name}' holds stays on this machine: ${reason}.`;
  const at = `The collection ${JSON.stringify(collection)} on ${withoutHostSecrets(host)}`;
  return `${at}, where database '${database.name}' kept its chunks, could not be removed: ${reason}. Remove it there if nothing else uses it.`;
}
