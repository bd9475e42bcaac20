import { Failure } from '../../../schemas/errors.js';
import { isObject, type JsonObject } from '../../base/json.js';
import type { Events } from '../../events/events.js';
import type { ItemOutcome } from '../../store/store.js';
import type { RunContext, TaskItem, TaskKind } from '../../tasks/contract.js';
import type { DatasetWork, FileOutcome, Ingest } from './contract.js';
import { IngestRecords } from './ingest-records.js';
import { findDataset, isKept } from './places.js';
import { forgetRemoved, settle, type VersionParts } from './versions.js';

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
      const replaced = outcome.status === 'failed' ? 0 : await settle(parts, namespace, project, work.dataset, hash);
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
