import { Failure } from '../../../schemas/errors.js';
import { isObject, type JsonObject } from '../../base/json.js';
import type { Events } from '../../events/events.js';
import type { EventProject } from '../../events/recording.js';
import type { ItemOutcome } from '../../store/records.js';
import type { EndedTask, RunContext, TaskItem, TaskKind } from '../../tasks/contract.js';
import type { DatasetWork, FileOutcome, Ingest } from './contract.js';
import { findDataset, isKept } from './places.js';
import { finishReplacement, forgetRemoved, type VersionParts } from './versions.js';

/** The kind of the tasks that process datasets. */
export const DATASET_KIND = 'dataset';

/** Takes the files of a dataset into its database, one per item. */
export function datasetKind(parts: VersionParts, events?: Events): TaskKind {
  const { projects, places, ingest } = parts;
  const records = events && new IngestRecords(events, projects);
  /** A file may be removed while it waits or runs: what was stored of it since goes too, also after a crash. */
  const refuseRemoved = async (item: TaskItem): Promise<void> => {
    const place = placeOf(item);
    const project = projects.load(place.namespace, place.project);
    if (await isKept(places, project, place.database, item.key)) return;
    await ingest.removeDocument({ ...place, documentHash: item.key });
    await forgetRemoved(parts, project, [item.key]);
    throw new Failure('not_found', `${item.name} was removed from the dataset before it was processed.`, { code: 'FileRemoved' });
  };
  return {
    run: async (item, context) => {
      const { namespace, project, key: hash, name } = item;
      const work = workOf(item);
      // First of all: its bytes are gone, too, where the daemon died between the removal and the end of an earlier run.
      await refuseRemoved(item);
      const found = findDataset(projects.load(namespace, project), work.dataset);
      const path = await places.raw(found, hash);
      if (path === undefined) throw new Failure('not_found', `The bytes of ${name} are gone from the dataset's folder. Upload it again.`);
      const { mime_type: mimeType, size: sizeBytes } = item.input as { mime_type: string; size: number };
      const version = (await places.list(found)).find((entry) => entry.hash === hash)?.version;
      const file = { path, name, hash, mimeType, sizeBytes, ...(version === undefined ? {} : { version }) };
      const ingested = ingest.ingest({ namespace, project, ...work, file }, contextOf(context));
      const outcome = await (records?.file(item, work, context, ingested) ?? ingested);
      await refuseRemoved(item);
      // The chunks of a version before it are of use until those of this one are there.
      const replaced = outcome.status === 'failed' ? 0 : await finishReplacement(parts, namespace, project, work.dataset, hash);
      return outcomeOf(item, outcome, replaced);
    },
    abandon: refuseRemoved,
    ...(records ? { ended: (task) => records.task(task) } : {}),
    revert: (item) => ingest.removeDocument({ ...placeOf(item), documentHash: item.key }),
    lock: (item) => Object.values(placeOf(item)).concat(item.key).join('\n'),
  };
}

function workOf({ shared }: TaskItem): DatasetWork {
  const { dataset, database, strategy, overrides } = shared as unknown as DatasetWork;
  return { dataset, database, strategy, overrides: isObject(overrides) ? overrides : {} };
}

function placeOf(item: TaskItem): { namespace: string; project: string; database: string } {
  return { namespace: item.namespace, project: item.project, database: workOf(item).database };
}

function contextOf({ signal, attempt, touch, report }: RunContext): Parameters<Ingest['ingest']>[1] {
  return { signal, attempt, willStore: touch, report };
}

function outcomeOf({ key, name }: TaskItem, outcome: FileOutcome, replacedChunks: number): ItemOutcome {
  const { status, reason, parser, extractors, embedder, storedCount, skippedCount } = outcome;
  const info: JsonObject = {
    filename: name,
    file_hash: key,
    status,
    reason,
    parser,
    extractors,
    chunks: outcome.chunks,
    chunk_size: outcome.chunkSize,
    embedder,
    error: status === 'failed' ? (reason ?? 'unknown reason') : null,
    stored_count: storedCount,
    skipped_count: skippedCount,
    warnings: outcome.warnings,
    ...(replacedChunks > 0 ? { replaced_chunks: replacedChunks } : {}),
    result: {
      status,
      filename: name,
      reason,
      document_count: outcome.documentCount,
      stored_count: storedCount,
      skipped_count: skippedCount,
      parsers_used: parser === null ? [] : [parser],
      embedder,
      extractors_applied: extractors,
      document_ids: outcome.documentIds,
    },
  };
  return { status, stored: storedCount, skipped: skippedCount, info };
}

/** Files of a task that its event names. */
const MAX_FILES = 100;

/** Keeps events of files on their way into databases: `rag_processing` for each run of a file, `dataset_ingestion` for each task. */
class IngestRecords {
  readonly #events: Events;
  readonly #projects: { load(namespace: string, name: string): EventProject };

  constructor(events: Events, projects: { load(namespace: string, name: string): EventProject }) {
    this.#events = events;
    this.#projects = projects;
  }

  /** Records the run of a file, and passes its outcome on. A run that is stopped leaves no event: it goes on later or is taken back. */
  async file(item: TaskItem, work: DatasetWork, { attempt, signal }: RunContext, ingested: Promise<FileOutcome>): Promise<FileOutcome> {
    const project = this.#project(item.namespace, item.project);
    const record = project && this.#events.begin('rag_processing', project);
    const about = { filename: item.name, file_hash: item.key, dataset: work.dataset, database: work.database, strategy: work.strategy };
    record?.note('file_received', { ...about, ...item.input });
    try {
      const outcome = await ingested;
      const { status, reason, parser, extractors, chunks, chunkSize, embedder, storedCount, skippedCount, warnings } = outcome;
      const counts = { chunks, stored_count: storedCount, skipped_count: skippedCount };
      record?.note('file_parsed', { parser, extractors, chunks, chunk_size: chunkSize, warnings });
      record?.note('processing_complete', { status, reason, embedder, ...counts });
      const error = status === 'failed' ? { error: reason ?? 'unknown reason' } : {};
      record?.end({ data: { ...about, status, parser, embedder, ...counts }, metadata: { attempt }, ...error });
      return outcome;
    } catch (failure) {
      const error = failure instanceof Failure ? failure.message : 'Something went wrong inside the daemon; its log has the cause.';
      if (!signal.aborted) record?.end({ data: about, metadata: { attempt }, error });
      throw failure;
    }
  }

  /** Records a task that has ended. */
  task({ namespace, project: name, id, record: task, items }: EndedTask): void {
    const project = this.#project(namespace, name);
    if (!project) return;
    const { dataset, database, strategy } = task.shared as unknown as DatasetWork;
    const record = this.#events.begin('dataset_ingestion', project, { startedMs: task.startedMs ?? task.createdMs });
    const of = (status: string): number => items.filter(({ outcome }) => outcome?.status === status).length;
    const failed = items.filter(({ state, outcome }) => state === 'failed' || outcome?.status === 'failed').length;
    const counts = { total_files: items.length, processed_files: of('success'), skipped_files: of('skipped'), failed_files: failed };
    const files = items.slice(0, MAX_FILES).map((item) => ({
      filename: item.name,
      file_hash: item.key,
      status: item.outcome?.status ?? item.state,
      stored_count: item.outcome?.stored ?? 0,
      error: item.error ?? null,
    }));
    record.note('ingestion_complete', { ...counts, files });
    const stored = items.reduce((sum, { outcome }) => sum + (outcome?.stored ?? 0), 0);
    const data = { task_id: id, dataset, database, strategy, ...counts, stored_count: stored };
    if (task.cancelled) record.end({ data, error: 'The task was cancelled.' });
    else record.end({ data, ...(failed > 0 ? { error: `${failed} of ${items.length} files failed.` } : {}) });
  }

  #project(namespace: string, name: string): EventProject | undefined {
    try {
      return this.#projects.load(namespace, name);
    } catch {
      // Without a configuration there is no log; the work itself says what is wrong.
      return undefined;
    }
  }
}
