import { Failure } from '../../schemas/errors.js';
import type { Database } from '../../schemas/generated/config/rag.js';
import type { CompactReply, DocumentRecord, HealthReply, ReindexReply, StatsReply } from '../../schemas/generated/core/rag.js';
import type { LoadedProject, Projects } from '../projects/projects.js';
import type { ProviderHealth } from '../providers/contract.js';
import type { Embedders } from '../rag/embedders/index.js';
import type { OpenedStores } from '../rag/opened-stores.js';
import { databaseOf, defaultOf, embeddingOf } from '../rag/query/resolve.js';
import type { StoredDocument, VectorStore } from '../rag/stores/contract.js';

/** Dimensions that are reported while neither store nor configuration knows them. */
const UNKNOWN_DIMENSIONS = 768;
const HEALTH_LIMIT_MS = 10_000;
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];
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
        const { status, message } = await run().catch((error: unknown) => unhealthy(error));
        components[check] = {
          name: check,
          status,
          latency: Math.round((performance.now() - started) * 100) / 100,
          message: message ?? null,
        };
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
    const configured = defaultOf(database.embedding_strategies ?? [], database.default_embedding_strategy)?.config?.dimension;
    let reason: string | undefined;
    const stats = await this.#store(asked)
      .then((store) => store.stats())
      .catch((error: unknown) => {
        reason = unhealthy(error).message;
        return undefined;
      });
    const storage = (stats?.contentBytes ?? 0) + (stats?.indexBytes ?? 0);
    return {
      database: database.name,
      vector_count: stats?.chunks ?? 0,
      document_count: stats?.documents ?? 0,
      chunk_count: stats?.chunks ?? 0,
      storage_bytes: storage,
      storage_human: human(storage),
      collection_size_bytes: stats?.contentBytes ?? 0,
      index_size_bytes: stats?.indexBytes ?? 0,
      embedding_dimension: stats?.dimensions ?? (typeof configured === 'number' ? configured : UNKNOWN_DIMENSIONS),
      distance_metric: stats?.metric ?? 'unknown',
      collection_name: collection,
      last_updated: stats?.lastUpdated ?? null,
      metadata: reason === undefined ? null : { error: reason },
    };
  }

  /** Documents by lower-case file name. */
  async documents(
    namespace: string,
    name: string,
    databaseName: string | undefined,
    range: { offset: number; limit: number },
  ): Promise<DocumentRecord[]> {
    const store = await this.#store(this.#find(namespace, name, databaseName));
    return (await store.documents(range.offset, range.limit)).map(documentRecord);
  }

  /** Gives back the space of what was removed. */
  async compact(namespace: string, name: string, databaseName?: string): Promise<CompactReply> {
    const started = performance.now();
    const store = await this.#store(this.#find(namespace, name, databaseName));
    const { chunks } = await store.stats();
    const { bytesBefore, bytesAfter } = await store.compact();
    const saved = Math.max(0, bytesBefore - bytesAfter);
    const seconds = (performance.now() - started) / 1000;
    const message = `${human(saved)} given back`;
    return { success: true, vectors_before: chunks, vectors_after: chunks, space_saved_bytes: saved, duration_seconds: seconds, message };
  }

  /** Builds the indexes of a database anew. */
  async reindex(namespace: string, name: string, databaseName?: string): Promise<ReindexReply> {
    const started = performance.now();
    const store = await this.#store(this.#find(namespace, name, databaseName));
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

  async #embeddings({ project, database }: Asked): Promise<ProviderHealth> {
    const embedder = this.#embedders.of(`${project.namespace}/${project.name}/${database.name}`, embeddingOf(database));
    const [vector] = await embedder.embed(['health check'], 'query', 'interactive', AbortSignal.timeout(HEALTH_LIMIT_MS));
    return { status: 'healthy', message: `${embedder.type}, ${vector!.length} dimensions` };
  }
}

function unhealthy(error: unknown): { status: 'unhealthy'; message: string } {
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

/** Bytes in steps of 1024, one decimal, no space. */
function human(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)}${UNITS[step]}`;
}
