import { Failure, type FailureKind } from '../../../schemas/errors.js';
import type { DataProcessingStrategy } from '../../../schemas/generated/config/rag.js';
import { BUILT_IN_STRATEGY } from '../../config/validate.js';
import type { Parsing, ParsingRequest } from '../../documents/parsing/parsing.js';
import { PassageFile, type Summary } from '../../documents/parsing/passage-file.js';
import type { LoadedProject, Projects } from '../../projects/projects.js';
import type { Chunk } from '../../rag/contract.js';
import type { Embedders } from '../../rag/embedders/index.js';
import type { OpenedStores } from '../../rag/opened-stores.js';
import { databaseOf, embeddingOf } from '../../rag/retrieval.js';
import type { FileOutcome, Ingest, IngestContext, IngestRequest } from '../datasets/contract.js';
import { BatchWriter } from './batch-writer.js';
import { Stages } from './stages.js';

/** The processing strategy of datasets that name none: every known format, with what most questions need. */
export const UNIVERSAL_STRATEGY: DataProcessingStrategy = {
  name: BUILT_IN_STRATEGY,
  parsers: [{ type: 'auto' }],
  extractors: [{ type: 'ContentStatisticsExtractor' }, { type: 'HeadingExtractor' }, { type: 'KeywordExtractor' }],
};

/** What is known of a run when it ends; no summary where parsing did not end. */
interface Ending {
  readonly summary: Summary | undefined;
  /** Type of the embedder. */
  readonly embedder: string;
}

function factsOf({ summary, embedder }: Ending) {
  const size = summary?.options.chunk_size;
  return {
    parser: summary?.parser ?? null,
    extractors: summary?.extractors ?? [],
    chunks: summary?.passages ?? 0,
    chunkSize: typeof size === 'number' ? size : null,
    embedder,
    warnings: summary?.warnings ?? [],
  };
}

/** The outcome of a file that cannot be taken in. */
function failedOutcome(reason: string, ending: Ending): FileOutcome {
  return { status: 'failed', reason, ...factsOf(ending), storedCount: 0, skippedCount: 0, documentCount: 0, documentIds: [] };
}

/** The outcome of a file all of whose chunks are in the database. */
function finishedOutcome({ file }: IngestRequest, { stored, skipped }: { stored: number; skipped: number }, ending: Ending): FileOutcome {
  return {
    status: stored === 0 ? 'skipped' : 'success',
    reason: stored === 0 ? 'duplicate' : null,
    ...factsOf(ending),
    storedCount: stored,
    skippedCount: skipped,
    documentCount: 1,
    documentIds: [file.hash],
  };
}

/** Projects whose kept stages are known. */
const MOST_STAGES = 256;
/** What may work later: the task tries again. All else is what became of the file. */
const PASSING: ReadonlySet<FailureKind> = new Set(['unavailable', 'timed_out', 'busy', 'disk_full', 'too_many', 'internal']);

/** What files are taken in with. */
interface FileIngestParts {
  readonly projects: Projects;
  readonly stores: OpenedStores;
  readonly embedders: Embedders;
  readonly parsing: Parsing;
}

/** Takes files into databases: parse, cut, extract, embed, store, batch by batch. What a crash or an earlier run left is not done again. */
export class FileIngest implements Ingest {
  readonly #parts: FileIngestParts;
  readonly #stages = new Map<string, Stages>();

  constructor(parts: FileIngestParts) {
    this.#parts = parts;
  }

  async ingest(request: IngestRequest, context: IngestContext): Promise<FileOutcome> {
    const { project, database, store } = await this.#opened(request);
    const owner = `${request.namespace}/${request.project}/${database.name}`;
    const embedder = this.#parts.embedders.of(owner, embeddingOf(database), project.config.runtime?.models);
    let summary: Summary | undefined;
    let passages: PassageFile | undefined;
    try {
      const { key, file } = await this.#parsed(project, request, context.signal);
      passages = file;
      summary = passages.summary;
      const origin = { file: request.file, dataset: request.dataset, time: new Date() };
      const stages = this.#stagesOf(project);
      const writer = new BatchWriter({ passages, origin, store, embedder, stages, key: `${embedder.key} ${key}`, context });
      return finishedOutcome(request, await writer.run(), { summary, embedder: embedder.type });
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof Failure) || PASSING.has(error.kind)) throw error;
      return failedOutcome(error.message, { summary, embedder: embedder.type });
    } finally {
      await passages?.close();
    }
  }

  async removeDocument(place: { namespace: string; project: string; database: string; documentHash: string }): Promise<number> {
    const { store } = await this.#opened(place);
    return store.removeDocument(place.documentHash);
  }

  async documentChunks(place: Parameters<Ingest['documentChunks']>[0]): Promise<Chunk[]> {
    const { store } = await this.#opened(place);
    return store.documentChunks(place.documentHash, place.from, place.limit);
  }

  async forgetDocuments(place: { namespace: string; project: string; documentHashes: readonly string[] }): Promise<void> {
    await this.#stagesOf(this.#parts.projects.load(place.namespace, place.project)).forget(place.documentHashes);
  }

  async chunkCounts(place: {
    namespace: string;
    project: string;
    database: string;
    documentHashes: readonly string[];
  }): Promise<number[] | undefined> {
    const { store } = await this.#opened(place);
    return store.chunkCounts?.(place.documentHashes);
  }

  /** The project and the database of a request, with the database's store. */
  async #opened(place: { namespace: string; project: string; database: string }) {
    const { namespace, project: name } = place;
    const project = this.#parts.projects.load(namespace, name);
    const database = databaseOf(project.config, place.database);
    const store = await this.#parts.stores.of({ namespace, project: name, directory: project.directory }, database);
    return { project, database, store };
  }

  /** What parsing makes of the file, from an earlier run where nothing has changed since. */
  async #parsed(
    project: LoadedProject,
    { file, strategy, overrides }: IngestRequest,
    signal: AbortSignal,
  ): Promise<{ key: string; file: PassageFile }> {
    const request: ParsingRequest = { file, strategy: processingStrategyOf(project, strategy), overrides };
    const stages = this.#stagesOf(project);
    const key = this.#parts.parsing.key(request, file.hash);
    const path = await stages.find('parse', file.hash, key);
    const kept = path === undefined ? undefined : await PassageFile.open(path);
    if (kept) return { key, file: kept };
    const draft = await stages.begin('parse', file.hash, key).catch((cause: unknown) => {
      throw new Failure('unavailable', `The folder for what is made of ${file.name} cannot be made.`, { cause });
    });
    try {
      await this.#parts.parsing.write(request, draft.path, signal);
      const made = await PassageFile.open(draft.path, true);
      if (made === undefined) throw new Failure('unavailable', `What was made of ${file.name} cannot be read.`);
      await draft.keep();
      return { key, file: made };
    } catch (error) {
      await draft.drop();
      throw error;
    }
  }

  #stagesOf({ directory }: LoadedProject): Stages {
    const stages = this.#stages.get(directory) ?? new Stages(directory);
    this.#stages.delete(directory);
    this.#stages.set(directory, stages);
    if (this.#stages.size > MOST_STAGES) this.#stages.delete(this.#stages.keys().next().value!);
    return stages;
  }
}

/** The processing strategy of a project by its name; the built-in one where it is named or none is configured. Throws `not_found`. */
export function processingStrategyOf({ config }: LoadedProject, name: string): DataProcessingStrategy {
  const strategies = config.rag?.data_processing_strategies ?? [];
  const found = strategies.find((one) => one.name === name);
  if (found) return found;
  if (name === UNIVERSAL_STRATEGY.name || strategies.length === 0) return UNIVERSAL_STRATEGY;
  throw new Failure(
    'not_found',
    `Data processing strategy '${name}' is not configured (known: ${strategies.map((one) => one.name).join(', ')}).`,
  );
}
