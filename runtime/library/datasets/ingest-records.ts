import { Failure } from '../../../schemas/errors.js';
import type { Events } from '../../events/events.js';
import type { EventProject } from '../../events/recording.js';
import type { EndedTask, RunContext, TaskItem } from '../../tasks/contract.js';
import type { DatasetWork, FileOutcome } from './contract.js';

/** Files of a task that its event names. */
const MAX_FILES = 100;

/** Keeps events of files on their way into databases: `rag_processing` for each run of a file, `dataset_ingestion` for each task. */
export class IngestRecords {
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
