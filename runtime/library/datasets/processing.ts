import { Failure } from '../../../schemas/errors.js';
import type { FileMetadata, FileProcessingDetail, ProcessReply } from '../../../schemas/generated/core/datasets.js';
import type { Task } from '../../../schemas/generated/core/tasks.js';
import { isObject, type JsonObject } from '../../base/json.js';
import { BUILT_IN_STRATEGY } from '../../config/validate.js';
import type { Projects } from '../../projects/projects.js';
import type { Tasks } from '../../tasks/tasks.js';
import { type DatasetWork, type ParserOverrides, READS_AT_ONCE } from './contract.js';
import { DATASET_KIND } from './kind.js';
import { checkOverrides } from './overrides.js';
import { type DatasetPlaces, type FoundDataset, findDataset, unknownFile } from './places.js';

/** What processing needs. */
export interface ProcessingParts {
  readonly projects: Projects;
  readonly places: DatasetPlaces;
  readonly tasks: Tasks;
}

/** What to process of a dataset, and how. */
export interface ProcessingWish {
  /** Only these files; all of the dataset unless given. */
  readonly hashes?: readonly string[];
  /** `parser_overrides`, not checked yet. */
  readonly overrides?: unknown;
}

/** Says that a task was started. */
export const PROCESSING_STARTED = 'Dataset processing started';
const NOTHING_TO_PROCESS = 'No files to process in dataset';
/** Names that a message about missing files spells out. */
const NAMED = 5;

/** Starts the tasks that take the files of datasets into databases. */
export class Processing {
  readonly #projects: Projects;
  readonly #places: DatasetPlaces;
  readonly #tasks: Tasks;

  constructor({ projects, places, tasks }: ProcessingParts) {
    this.#projects = projects;
    this.#places = places;
    this.#tasks = tasks;
  }

  /** Checks overrides against the strategy of a dataset. Throws `not_found`, `bad_request`. */
  checked(namespace: string, project: string, name: string, overrides: unknown): ParserOverrides {
    const { project: loaded, dataset } = this.#find(namespace, project, name);
    const strategy = loaded.config.rag?.data_processing_strategies?.find((one) => one.name === dataset.data_processing_strategy);
    return checkOverrides(overrides, strategy);
  }

  /** Starts a task and returns its id. Throws `not_found` for a file that the dataset does not have or whose bytes are gone, `bad_request`. */
  async start(namespace: string, project: string, name: string, { hashes, overrides }: ProcessingWish): Promise<string> {
    const found = this.#find(namespace, project, name);
    const checked = this.checked(namespace, project, name, overrides);
    const files = chooseFiles(await this.#places.list(found), name, hashes);
    await this.#checkBytes(found, files);
    const { database, data_processing_strategy: strategy = BUILT_IN_STRATEGY } = found.dataset;
    const shared: DatasetWork = { dataset: name, database, strategy, overrides: checked };
    return this.#tasks.start({
      namespace,
      project,
      kind: DATASET_KIND,
      shared: { ...shared },
      items: files.map(({ hash, original_file_name, mime_type, size }) => ({
        key: hash,
        name: original_file_name,
        input: { mime_type, size },
      })),
      emptyResult: { message: NOTHING_TO_PROCESS, namespace, project, dataset: name, strategy, files: [], total_files: 0 },
    });
  }

  /** Processes a whole dataset as older clients ask for it: waits for the end unless `wait` is false. */
  async run(
    namespace: string,
    project: string,
    name: string,
    { wait, signal }: { wait: boolean; signal: AbortSignal },
  ): Promise<ProcessReply> {
    const id = await this.start(namespace, project, name, {});
    const { database, data_processing_strategy: strategy = BUILT_IN_STRATEGY } = this.#find(namespace, project, name).dataset;
    const about = { strategy, database, task_id: id };
    if (!wait) {
      const files = await this.#places.list(this.#find(namespace, project, name));
      const details = files.map((file) => fileDetail('pending', { file_hash: file.hash, filename: file.original_file_name }));
      return { message: PROCESSING_STARTED, processed_files: 0, skipped_files: 0, failed_files: 0, details, ...about };
    }
    return { ...summaryOf(await this.#tasks.finished(namespace, project, id, signal)), ...about };
  }

  #find(namespace: string, project: string, name: string): FoundDataset {
    return findDataset(this.#projects.load(namespace, project), name);
  }

  async #checkBytes(found: FoundDataset, files: readonly FileMetadata[]): Promise<void> {
    const missing: string[] = [];
    for (let from = 0; from < files.length; from += READS_AT_ONCE) {
      await Promise.all(
        files.slice(from, from + READS_AT_ONCE).map(async ({ hash, original_file_name }) => {
          if ((await this.#places.raw(found, hash)) === undefined) missing.push(original_file_name);
        }),
      );
    }
    if (missing.length === 0) return;
    const rest = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : '';
    throw new Failure(
      'not_found',
      `Not on disk any more: ${missing.slice(0, NAMED).join(', ')}${rest}. Upload again, or delete the entries.`,
      {
        code: 'FileMissing',
      },
    );
  }
}

function chooseFiles(files: readonly FileMetadata[], name: string, hashes: readonly string[] | undefined): readonly FileMetadata[] {
  if (!hashes) return files;
  return hashes.map((hash) => {
    const file = files.find((one) => one.hash === hash);
    if (!file) throw unknownFile(name, hash);
    return file;
  });
}

function summaryOf(task: Task): Pick<ProcessReply, 'message' | 'processed_files' | 'skipped_files' | 'failed_files' | 'details'> {
  const result: JsonObject = isObject(task.result) ? task.result : {};
  const count = (name: string): number => Number(result[name] ?? 0);
  const details = Array.isArray(result.details) ? result.details : [];
  return {
    message: task.error ?? String(result.message ?? 'Dataset processed'),
    processed_files: count('processed_files'),
    skipped_files: count('skipped_files'),
    failed_files: count('failed_files'),
    details: details.map(detailOf),
  };
}

/** One file of a task's result in the form of the older route. */
function detailOf(entry: unknown): FileProcessingDetail {
  if (Array.isArray(entry)) {
    const info: JsonObject = isObject(entry[1]) ? entry[1] : {};
    const status = entry[0] !== true ? 'failed' : info.status === 'skipped' ? 'skipped' : 'processed';
    return fileDetail(status, info);
  }
  const broken: JsonObject = isObject(entry) ? entry : {};
  return fileDetail('failed', { ...broken, ...(isObject(broken.details) ? broken.details : {}) });
}

function fileDetail(status: FileProcessingDetail['status'], info: JsonObject): FileProcessingDetail {
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return {
    hash: text(info.file_hash) ?? '',
    filename: text(info.filename) ?? '',
    status,
    parser: text(info.parser),
    extractors: Array.isArray(info.extractors) ? info.extractors : [],
    chunks: number(info.chunks),
    chunk_size: number(info.chunk_size),
    embedder: text(info.embedder),
    error: text(info.error),
    reason: text(info.reason),
  };
}
