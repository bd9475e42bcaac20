import { Failure } from '../../../schemas/errors.js';
import type { Database } from '../../../schemas/generated/config/rag.js';
import type { CompactReply, DocumentRecord, HealthReply, ReindexReply, StatsReply } from '../../../schemas/generated/core/rag.js';
import { humanSize } from '../../base/files.js';
import type { Health } from '../../base/health.js';
import type { LoadedProject, Projects } from '../../projects/projects.js';
import type { Embedder } from '../../rag/embedders/contract.js';
import type { Embedders } from '../../rag/embedders/index.js';
import type { OpenedStores } from '../../rag/opened-stores.js';
import { databaseOf, defaultOf, embeddingOf } from '../../rag/retrieval.js';
import type { StoredDocument, VectorStore } from '../../rag/stores/contract.js';

/** Dimensions that are reported while neither store nor configuration nor embedder tells them. */
const UNKNOWN_DIMENSIONS = 768;
/** Documents that a filter looks at per call of the store. */
const DOCUMENTS_AT_ONCE = 1000;
const HEALTH_LIMIT_MS = 10_000;
/** Worst first. */
const STATES = ['unhealthy', 'degraded', 'healthy'] as const;
/** Metadata of a document that lists show. */
const SHOWN = ['category', 'language', 'source_type', 'title'];

interface Asked {
  readonly project: LoadedProject;
  readonly database: Database;
}

/** Looks into databases: what they hold, whether they work, and their upkeep. */
export class DatabaseInspection {
  readonly #projects: Projects;
  readonly #stores: OpenedStores;
  readonly #embedders: Embedders;

  constructor({ projects, stores, embedders }: { projects: Projects; stores: OpenedStores; embedders: Embedders }) {
    this.#projects = projects;
    this.#stores = stores;
    this.#embedders = embedders;
  }

  /** Asks the store and the embedder of a database how they are; never fails because they do. */
  async health(namespace: string, name: string, databaseName?: string): Promise<HealthReply> {
    const asked = this.#find(namespace, name, databaseName);
    const { database } = asked;
    const checks = {
      vector_store: async () => (await this.#store(asked)).health(),
      embeddings: () => this.#embeddings(asked),
    };
    const components: HealthReply['components'] = {};
    await Promise.all(
      Object.entries(checks).map(async ([check, run]) => {
        const started = performance.now();
        const { status, message } = await run().catch((error: unknown) => unhealthyState(error));
        const latency = Math.round((performance.now() - started) * 100) / 100;
        components[check] = { name: check, status, latency, latency_ms: latency, message: message ?? null };
      }),
    );
    const all = Object.values(components);
    const issues = all.filter(({ status }) => status !== 'healthy').map((one) => `${one.name}: ${one.message ?? one.status}`);
    return {
      status: STATES.find((state) => all.some(({ status }) => status === state)) ?? 'healthy',
      database: database.name,
      components,
      last_check: new Date().toISOString(),
      issues: issues.length === 0 ? null : issues,
    };
  }

  /** Sizes of a database; zeros and the reason where its store does not answer. */
  async stats(namespace: string, name: string, databaseName?: string): Promise<StatsReply> {
    const asked = this.#find(namespace, name, databaseName);
    const { database } = asked;
    const collection = typeof database.config?.collection_name === 'string' ? database.config.collection_name : database.name;
    const { dimension } = defaultOf(database.embedding_strategies ?? [], database.default_embedding_strategy)?.config ?? {};
    const configured = typeof dimension === 'number' ? dimension : undefined;
    let reason: string | undefined;
    const stats = await this.#store(asked)
      .then((store) => store.stats())
      .catch((error: unknown) => {
        reason = unhealthyState(error).message;
        return undefined;
      });
    const storage = (stats?.contentBytes ?? 0) + (stats?.indexBytes ?? 0);
    return {
      database: database.name,
      vector_count: stats?.chunks ?? 0,
      document_count: stats?.documents ?? 0,
      chunk_count: stats?.chunks ?? 0,
      storage_bytes: storage,
      storage_human: humanSize(storage),
      collection_size_bytes: stats?.contentBytes ?? 0,
      index_size_bytes: stats?.indexBytes ?? 0,
      embedding_dimension: stats?.dimensions ?? configured ?? (await this.#dimensions(asked)),
      distance_metric: stats?.metric ?? 'unknown',
      collection_name: collection,
      last_updated: stats?.lastUpdated ?? null,
      metadata: reason === undefined ? null : { error: reason },
    };
  }

  /** Documents by lower-case file name; with `filter` those whose file name has it, in upper or lower case. */
  async documents(
    namespace: string,
    name: string,
    databaseName: string | undefined,
    { offset, limit, filter = '' }: { offset: number; limit: number; filter?: string },
  ): Promise<DocumentRecord[]> {
    const store = await this.#store(this.#find(namespace, name, databaseName));
    if (filter === '') return (await store.documents(offset, limit)).map(documentRecord);
    const found: DocumentRecord[] = [];
    for (let from = 0; found.length < offset + limit; from += DOCUMENTS_AT_ONCE) {
      const page = await store.documents(from, DOCUMENTS_AT_ONCE);
      const records = page.map(documentRecord);
      found.push(...records.filter(({ filename }) => filename.toLowerCase().includes(filter.toLowerCase())));
      if (page.length < DOCUMENTS_AT_ONCE) break;
    }
    return found.slice(offset, offset + limit);
  }

  /** Gives back the space of what was removed. */
  async compact(namespace: string, name: string, databaseName?: string): Promise<CompactReply> {
    const started = performance.now();
    const store = await this.#store(this.#find(namespace, name, databaseName));
    const { chunks } = await store.stats();
    const { bytesBefore, bytesAfter } = await store.compact();
    const saved = Math.max(0, bytesBefore - bytesAfter);
    const seconds = (performance.now() - started) / 1000;
    const message = `${humanSize(saved)} given back`;
    return { success: true, vectors_before: chunks, vectors_after: chunks, space_saved_bytes: saved, duration_seconds: seconds, message };
  }

  /**
   * Builds the indexes of a database anew from the stored vectors. A `strategy` must be the one that these are by: throws `not_found` for one
   * that the database does not have, `bad_request` for another one.
   */
  async reindex(namespace: string, name: string, databaseName?: string, strategy?: string): Promise<ReindexReply> {
    const started = performance.now();
    const asked = this.#find(namespace, name, databaseName);
    if (strategy !== undefined) refuseOther(asked.database, strategy);
    const store = await this.#store(asked);
    const { chunks } = await store.reindex();
    const { documents } = await store.stats();
    const seconds = (performance.now() - started) / 1000;
    return { success: true, documents_processed: documents, chunks_created: chunks, duration_seconds: seconds, errors: [] };
  }

  #find(namespace: string, name: string, databaseName: string | undefined): Asked {
    const project = this.#projects.load(namespace, name);
    return { project, database: databaseOf(project.config, databaseName) };
  }

  #store({ project, database }: Asked): Promise<VectorStore> {
    const { namespace, name, directory } = project;
    return this.#stores.of({ namespace, project: name, directory }, database);
  }

  async #embeddings(asked: Asked): Promise<Health> {
    const embedder = this.#embedder(asked);
    return { status: 'healthy', message: `${embedder.type}, ${await askedDimensions(embedder)} dimensions` };
  }

  /** Dimensions of the vectors that a database without chunks would get. */
  async #dimensions(asked: Asked): Promise<number> {
    try {
      const embedder = this.#embedder(asked);
      return embedder.dimensions ?? (await askedDimensions(embedder));
    } catch {
      return UNKNOWN_DIMENSIONS;
    }
  }

  #embedder({ project, database }: Asked): Embedder {
    const place = `${project.namespace}/${project.name}/${database.name}`;
    return this.#embedders.of(place, embeddingOf(database), project.config.runtime?.models);
  }
}

async function askedDimensions(embedder: Embedder): Promise<number> {
  const [vector] = await embedder.embed(['health check'], 'query', 'interactive', AbortSignal.timeout(HEALTH_LIMIT_MS));
  return vector!.length;
}

function refuseOther(database: Database, strategy: string): void {
  const strategies = (database.embedding_strategies ?? []).map(({ name }) => name);
  const used = embeddingOf(database).name;
  if (strategy === used) return;
  if (!strategies.includes(strategy)) {
    const message = `Embedding strategy '${strategy}' not found in database '${database.name}'; it has: ${strategies.join(', ')}.`;
    throw new Failure('not_found', message, { code: 'EmbeddingStrategyNotFound' });
  }
  throw new Failure(
    'bad_request',
    `The chunks of '${database.name}' are embedded by '${used}'; building indexes does not embed them by '${strategy}'. Make that the default_embedding_strategy of a new database, and process the datasets into it.`,
    { code: 'OtherStrategy' },
  );
}

function unhealthyState(error: unknown): { status: 'unhealthy'; message: string } {
  return { status: 'unhealthy', message: error instanceof Failure ? error.message : 'it does not work; see the log' };
}

function documentRecord({ documentHash, chunks, metadata }: StoredDocument): DocumentRecord {
  const shown = Object.fromEntries(SHOWN.filter((key) => metadata[key] !== undefined).map((key) => [key, metadata[key]]));
  const date = metadata.processing_timestamp ?? metadata.processing_date ?? metadata.ingested_at;
  return {
    id: documentHash,
    filename: String(metadata.file_name ?? metadata.source ?? documentHash),
    chunk_count: chunks,
    size_bytes: typeof metadata.file_size === 'number' ? metadata.file_size : 0,
    parser_used: typeof metadata.parser_type === 'string' ? metadata.parser_type : 'unknown',
    date_ingested: typeof date === 'string' ? date : new Date().toISOString(),
    metadata: Object.keys(shown).length === 0 ? null : shown,
  };
}
