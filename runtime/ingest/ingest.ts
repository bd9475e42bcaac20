import { Failure, type FailureKind } from '../../schemas/errors.js';
import type { DataProcessingStrategy } from '../../schemas/generated/config/rag.js';
import type { FileOutcome, Ingest, IngestContext, IngestRequest } from '../datasets/contract.js';
import type { LoadedProject, Projects } from '../projects/projects.js';
import type { Chunk, EmbeddedChunk } from '../rag/contract.js';
import type { Embedder } from '../rag/embedders/contract.js';
import type { Embedders } from '../rag/embedders/index.js';
import type { OpenedStores } from '../rag/opened-stores.js';
import type { Parsed, Parsing, ParsingRequest } from '../rag/parsing/parsing.js';
import { UNIVERSAL_STRATEGY } from '../rag/parsing/universal.js';
import { databaseOf, embeddingOf } from '../rag/query/resolve.js';
import type { VectorStore } from '../rag/stores/contract.js';
import { chunkOf } from './identity.js';
import { inTurns, readParsed, writeParsed } from './parsed-file.js';
import { STAGE_LIMITS, Stages } from './stages.js';
import { KeptVectors, vectorBytes } from './vectors.js';

/** Chunks that are embedded and stored at a time: what a crash costs at most. */
const BATCH_CHUNKS = 64;
/** Projects whose kept stages are known. */
const MOST_STAGES = 256;
/** What may work later: the task tries again. All else is what became of the file. */
const PASSING: ReadonlySet<FailureKind> = new Set(['unavailable', 'timed_out', 'busy', 'disk_full', 'too_many', 'internal']);

/** What files are taken in with. */
export interface FileIngestParts {
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
    const project = this.#parts.projects.load(request.namespace, request.project);
    const database = databaseOf(project.config, request.database);
    const store = await this.#parts.stores.of(placeOf(project), database);
    const owner = `${request.namespace}/${request.project}/${database.name}`;
    const embedder = this.#parts.embedders.of(owner, embeddingOf(database));
    let parsed: Parsed | undefined;
    try {
      parsed = await this.#parsed(project, request, context.signal);
      const outcome = { parsed, embedder: embedder.type };
      const origin = { file: request.file, dataset: request.dataset, time: new Date() };
      const chunks: Chunk[] = [];
      for await (const some of inTurns(parsed.passages)) chunks.push(...some.map((passage) => chunkOf(passage, origin)));
      if (chunks.length === 0) return failed('no text was found in the file', outcome);
      const counts = await this.#store(chunks, { project, context, store, embedder });
      return finished(request, chunks.length, counts, outcome);
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof Failure) || PASSING.has(error.kind)) throw error;
      return failed(error.message, { parsed, embedder: embedder.type });
    }
  }

  async removeDocument(place: { namespace: string; project: string; database: string; documentHash: string }): Promise<number> {
    const project = this.#parts.projects.load(place.namespace, place.project);
    const store = await this.#parts.stores.of(placeOf(project), databaseOf(project.config, place.database));
    return store.removeDocument(place.documentHash);
  }

  /** What parsing makes of the file, from an earlier run where nothing has changed since. */
  async #parsed(project: LoadedProject, { file, strategy, overrides }: IngestRequest, signal: AbortSignal): Promise<Parsed> {
    const request: ParsingRequest = { file, strategy: processingStrategyOf(project, strategy), overrides };
    const stages = this.#stagesOf(project);
    const key = this.#parts.parsing.key(request, file.hash);
    const kept = await stages.read('parse', key);
    if (kept) return readParsed(kept);
    const parsed = await this.#parts.parsing.parse(request, signal);
    await stages.write('parse', key, await writeParsed(parsed));
    return parsed;
  }

  async #store(chunks: readonly Chunk[], run: StoreRun): Promise<{ stored: number; skipped: number }> {
    const { project, context, store, embedder } = run;
    const there = await store.has(chunks.map(({ id }) => id));
    const missing = chunks.filter(({ id }) => !there.has(id));
    const counts = { stored: 0, skipped: chunks.length - missing.length };
    if (missing.length === 0) return counts;
    const stages = this.#stagesOf(project);
    const key = `${embedder.key} ${missing.map(({ id }) => id).join(' ')}`;
    const kept = await KeptVectors.read(stages, key, missing.length);
    let made: Float32Array[] = [];
    let madeBytes = 0;
    await context.willStore();
    for (let from = 0; from < missing.length; from += BATCH_CHUNKS) {
      context.signal.throwIfAborted();
      const batch = missing.slice(from, from + BATCH_CHUNKS);
      const texts = batch.map(({ text }) => text);
      const vectors = kept ? kept.from(from, batch.length) : await embedder.embed(texts, 'document', 'bulk', context.signal);
      const embedded: EmbeddedChunk[] = batch.map((chunk, index) => ({ ...chunk, vector: vectors[index]! }));
      const { stored, skipped } = await store.add(embedded, context.signal);
      counts.stored += stored;
      counts.skipped += skipped;
      madeBytes += vectors.reduce((sum, { byteLength }) => sum + byteLength, 0);
      // What is too large to be kept must not wait in memory either.
      if (madeBytes > STAGE_LIMITS.largestBytes) made = [];
      else made.push(...vectors);
      context.report({ done: counts.stored + counts.skipped, total: chunks.length, stored: counts.stored });
    }
    if (!kept && made.length === missing.length) await stages.write('embed', key, made.map(vectorBytes));
    return counts;
  }

  #stagesOf({ directory }: LoadedProject): Stages {
    const stages = this.#stages.get(directory) ?? new Stages(directory);
    this.#stages.delete(directory);
    this.#stages.set(directory, stages);
    if (this.#stages.size > MOST_STAGES) this.#stages.delete(this.#stages.keys().next().value!);
    return stages;
  }
}

interface StoreRun {
  readonly project: LoadedProject;
  readonly context: IngestContext;
  readonly store: VectorStore;
  readonly embedder: Embedder;
}

function placeOf({ namespace, name, directory }: LoadedProject): { namespace: string; project: string; directory: string } {
  return { namespace, project: name, directory };
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

function chunkSizeOf(parsed: Parsed | undefined): number | null {
  const size = parsed?.options.chunk_size;
  return typeof size === 'number' ? size : null;
}

function failed(reason: string, { parsed, embedder }: { parsed: Parsed | undefined; embedder: string }): FileOutcome {
  return {
    status: 'failed',
    reason,
    parser: parsed?.parser ?? null,
    extractors: parsed?.extractors ?? [],
    chunks: parsed?.passages.length ?? 0,
    chunkSize: chunkSizeOf(parsed),
    embedder,
    storedCount: 0,
    skippedCount: 0,
    documentCount: 0,
    documentIds: [],
    warnings: parsed?.warnings ?? [],
  };
}

function finished(
  { file }: IngestRequest,
  chunks: number,
  { stored, skipped }: { stored: number; skipped: number },
  { parsed, embedder }: { parsed: Parsed; embedder: string },
): FileOutcome {
  return {
    status: stored === 0 ? 'skipped' : 'success',
    reason: stored === 0 ? 'duplicate' : null,
    parser: parsed.parser,
    extractors: parsed.extractors,
    chunks,
    chunkSize: chunkSizeOf(parsed),
    embedder,
    storedCount: stored,
    skippedCount: skipped,
    documentCount: 1,
    documentIds: [file.hash],
    warnings: parsed.warnings,
  };
}
