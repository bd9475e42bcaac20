import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { UploadedFile } from '../../../schemas/endpoint.js';
import { Failure } from '../../../schemas/errors.js';
import type { Dataset } from '../../../schemas/generated/config/project.js';
import type {
  CountedFile,
  DatasetCreate,
  DatasetItem,
  DatasetList,
  FileMetadata,
  Strategies,
} from '../../../schemas/generated/core/datasets.js';
import { fileFailure, flushDirectory } from '../../base/durable-files.js';
import { isObject, type JsonObject } from '../../base/json.js';
import { log } from '../../base/log.js';
import { quote } from '../../base/names.js';
import { BUILT_IN_STRATEGY } from '../../config/validate.js';
import type { SourceFile } from '../../documents/parsers/contract.js';
import type { Events } from '../../events/events.js';
import type { LoadedProject, Projects } from '../../projects/projects.js';
import type { Chunk } from '../../rag/contract.js';
import type { Store } from '../../store/store.js';
import type { TaskKind } from '../../tasks/contract.js';
import { Tasks, type TasksOptions } from '../../tasks/tasks.js';
import { DATASET_BYTES, type Ingest } from './contract.js';
import { DATASET_KIND, datasetKind } from './kind.js';
import { DatasetPlaces, datasetFile, datasetPath, type FoundDataset, findDataset, lockOf } from './places.js';
import { Processing } from './processing.js';
import { Removal } from './removal.js';
import { documentsOf, dropDocument, forgetRemoved, sameNamed, takenOver, takeOut, type VersionParts } from './versions.js';

/** What datasets are made of. */
interface DatasetsParts {
  readonly projects: Projects;
  readonly places: DatasetPlaces;
  readonly tasks: Tasks;
  readonly ingest: Ingest;
  /** Bytes of all files of one dataset; `DATASET_BYTES` unless given. */
  readonly quotaBytes?: number;
}

/** What became of an upload. */
export interface AddedFile {
  /** False where the dataset had these bytes already. */
  readonly added: boolean;
  readonly file: FileMetadata;
  /** Hashes of the files of its name in whose place it came. */
  readonly replaced: readonly string[];
}

/** The datasets of projects: their entries in the project file, their files on disk, and the work on them. */
export class Datasets {
  readonly processing: Processing;
  readonly removal: Removal;
  readonly #projects: Projects;
  readonly #places: DatasetPlaces;
  readonly #ingest: Ingest;
  readonly #quotaBytes: number;
  readonly #versions: VersionParts;

  constructor(parts: DatasetsParts) {
    this.#projects = parts.projects;
    this.#places = parts.places;
    this.#ingest = parts.ingest;
    this.#quotaBytes = parts.quotaBytes ?? DATASET_BYTES;
    this.processing = new Processing(parts);
    this.#versions = parts;
    this.removal = new Removal(parts);
  }

  /** The dataset of a name. Throws `not_found` for the project or the dataset. */
  find(namespace: string, project: string, name: string): FoundDataset {
    return findDataset(this.#projects.load(namespace, project), name);
  }

  /** The datasets of a project in the order of its file, with what is known of their files where `details` says so. */
  async list(namespace: string, project: string, { details }: { details: boolean }): Promise<DatasetList> {
    const loaded = this.#projects.load(namespace, project);
    const datasets: DatasetItem[] = [];
    for (const dataset of loaded.config.datasets ?? []) datasets.push(await this.#shown({ project: loaded, dataset }, details));
    return { total: datasets.length, datasets };
  }

  /** What is known of the files of a dataset, the oldest first. Throws as `find` does. */
  files(namespace: string, project: string, name: string): Promise<FileMetadata[]> {
    return this.#places.list(this.find(namespace, project, name));
  }

  /** A file for reading. Throws `not_found`. */
  file(namespace: string, project: string, name: string, hash: string): Promise<SourceFile> {
    return datasetFile(this.#places, this.find(namespace, project, name), hash);
  }

  /** The chunks of a file from number `from` on, as the database of its dataset has them. Throws `not_found`, and what the store throws. */
  async chunks(namespace: string, project: string, name: string, hash: string, range: { from: number; limit: number }): Promise<Chunk[]> {
    const found = this.find(namespace, project, name);
    await datasetFile(this.#places, found, hash);
    const { database } = found.dataset;
    if (database === undefined) return [];
    return this.#ingest.documentChunks({ namespace, project, database, documentHash: hash, ...range });
  }

  /** Names that a new dataset may use; none without a `rag` section. */
  strategies(namespace: string, project: string): Strategies {
    return strategiesOf(this.#projects.load(namespace, project));
  }

  /** Adds a dataset to the project file. Throws `bad_request` for a name that is taken and for an unknown strategy or database. */
  async create(namespace: string, project: string, wanted: DatasetCreate): Promise<DatasetItem> {
    const { name, data_processing_strategy: strategy, database, auto_process: auto, same_name: sameName } = wanted;
    const { data_processing_strategies: strategies, databases } = this.strategies(namespace, project);
    if (strategy !== BUILT_IN_STRATEGY && !strategies.includes(strategy))
      throw unsupportedFailure('data processing strategy', strategy, strategies);
    if (!databases.includes(database)) throw unsupportedFailure('database', database, databases);
    const settings = { ...(auto === undefined ? {} : { auto_process: auto }), ...(sameName === undefined ? {} : { same_name: sameName }) };
    const entry: JsonObject = { name, data_processing_strategy: strategy, database, ...settings };
    const loaded = await this.#projects.edit(namespace, project, (raw) => {
      const datasets = Array.isArray(raw.datasets) ? raw.datasets : [];
      if (datasets.some((one) => isObject(one) && one.name === name)) {
        throw new Failure('bad_request', `Dataset ${quote(name)} already exists in ${namespace}/${project}. Choose another name.`, {
          code: 'DatasetExists',
        });
      }
      return { ...raw, datasets: [...datasets, entry] };
    });
    return this.#shown(findDataset(loaded, name), false);
  }

  /** Removes a dataset. Its files are kept in the project's `lf_data/deleted` unless `files`; its chunks stay unless `chunks`. */
  async delete(namespace: string, project: string, name: string, remove: { files: boolean; chunks: boolean }): Promise<DatasetItem> {
    const found = this.find(namespace, project, name);
    const shown = await this.#shown(found, false);
    if (remove.chunks) await this.removal.datasetChunks(namespace, project, name);
    return this.#places.locks.run(lockOf(namespace, project, name), async () => {
      const edited = await this.#projects.edit(namespace, project, (raw) => ({
        ...raw,
        datasets: (Array.isArray(raw.datasets) ? raw.datasets : []).filter((one) => !isObject(one) || one.name !== name),
      }));
      await putAway(found, remove.files);
      if (remove.files) await forgetRemoved(this.#versions, edited, shown.files);
      return shown;
    });
  }

  /**
   * Keeps an upload; `added` is false where the dataset has these bytes already. In the place of other files of its name, unless the dataset
   * keeps both or they are `together` with it: the hashes of what came in the same request. Throws `too_large` (DatasetFull) over the quota,
   * `disk_full`; nothing of the file stays then.
   */
  add(namespace: string, project: string, name: string, upload: UploadedFile, together: readonly string[] = []): Promise<AddedFile> {
    return this.#places.locks.run(lockOf(namespace, project, name), async () => {
      const found = this.find(namespace, project, name);
      const files = await this.#places.list(found);
      const same = files.find((file) => file.hash === upload.sha256);
      const named = sameNamed(files, upload).filter((file) => file !== same);
      const goes = found.dataset.same_name === 'keep' ? [] : named.filter(({ hash }) => !together.includes(hash));
      const replaced = goes.map(({ hash }) => hash);
      if (same) {
        // Its bytes are here under another name: what they replace waits for nothing.
        for (const file of goes) await this.#retire(found, file);
        return { added: false, file: same, replaced };
      }
      const used = files.reduce((sum, { hash, size }) => sum + (replaced.includes(hash) ? 0 : size), 0);
      if (used + upload.sizeBytes > this.#quotaBytes) {
        throw new Failure(
          'too_large',
          `Dataset ${quote(name)} may hold ${this.#quotaBytes} bytes: it holds ${used}, and ${quote(upload.name)} has ${upload.sizeBytes}. Remove files, or use another dataset.`,
          { code: 'DatasetFull' },
        );
      }
      const file = await this.#places.folder(found).add(upload, takenOver(upload, named, goes));
      for (const hash of replaced) {
        // The new entry hides the old one already; what stays of it goes when the new file is processed.
        await takeOut(this.#versions, found, hash, true).catch((cause: unknown) => {
          log('warn', 'a replaced file could not be removed yet', { dataset: name, file: hash, cause });
        });
      }
      return { added: true, file, replaced };
    });
  }

  async #retire(found: FoundDataset, file: FileMetadata): Promise<void> {
    for (const document of documentsOf(file)) await dropDocument(this.#versions, found, document);
    await takeOut(this.#versions, found, file.hash, true);
  }

  async #shown(found: FoundDataset, details: boolean): Promise<DatasetItem> {
    const files = await this.#places.list(found);
    const { dataset } = found;
    const hashes = new Set([...(dataset.files ?? []), ...files.map(({ hash }) => hash)]);
    const item: DatasetItem = { ...plainDataset(dataset), files: [...hashes] };
    if (!details) return item;
    item.details = {
      total_files: files.length,
      total_size_bytes: files.reduce((sum, { size }) => sum + size, 0),
      file_details: files.map(({ hash, original_file_name, size, timestamp }) => ({
        hash,
        original_filename: original_file_name,
        size,
        timestamp,
      })),
      files_metadata: await this.#counted(found, files),
    };
    return item;
  }

  /** Files with the number of their chunks, where the database says it at once; a list must not fail with it. */
  async #counted({ project, dataset }: FoundDataset, files: readonly FileMetadata[]): Promise<CountedFile[]> {
    const documentHashes = files.map(({ hash }) => hash);
    if (files.length === 0 || dataset.database === undefined) return [...files];
    const place = { namespace: project.namespace, project: project.name, database: dataset.database, documentHashes };
    const counts = await this.#ingest.chunkCounts?.(place).catch(() => undefined);
    return counts === undefined ? [...files] : files.map((file, at) => ({ ...file, chunk_count: counts[at]! }));
  }
}

function strategiesOf({ config: { rag } }: LoadedProject): Strategies {
  if (!rag) return { data_processing_strategies: [], databases: [] };
  const names = (rag.data_processing_strategies ?? []).map(({ name }) => name);
  return {
    data_processing_strategies: names.length > 0 ? names : [BUILT_IN_STRATEGY],
    databases: (rag.databases ?? []).map(({ name }) => name),
  };
}

function plainDataset(dataset: Dataset): Pick<DatasetItem, 'name' | 'database' | 'data_processing_strategy' | 'auto_process'> {
  const { data_processing_strategy: strategy = BUILT_IN_STRATEGY, auto_process: auto = false } = dataset;
  return { ...dataset, data_processing_strategy: strategy, auto_process: auto };
}

function unsupportedFailure(what: string, given: string, known: readonly string[]): Failure {
  const list = known.length === 0 ? 'the project has none' : `known: ${known.join(', ')}`;
  return new Failure('bad_request', `Unsupported ${what} ${quote(given)} (${list}).`, { code: 'Unsupported' });
}

/** Deletes the folder of a removed dataset, or moves it where a new dataset of the name does not find it. */
async function putAway({ project, dataset }: FoundDataset, forGood: boolean): Promise<void> {
  const folder = datasetPath(project, dataset.name);
  const kept = join(project.directory, 'lf_data', 'deleted', `${dataset.name}.${Date.now()}`);
  try {
    await mkdir(dirname(kept), { recursive: true, mode: 0o700 });
    await rename(folder, kept);
    await flushDirectory(dirname(folder));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw fileFailure(cause, `remove the files of dataset ${dataset.name}`);
  }
  if (!forGood) return;
  await rm(kept, { recursive: true, force: true }).catch((cause: unknown) => {
    log('warn', 'the files of a deleted dataset could not be removed completely', { path: kept, cause });
  });
}

/** What datasets and their tasks are opened with. */
interface OpenDatasetsParts {
  readonly store: Store;
  readonly projects: Projects;
  readonly ingest: Ingest;
  /** Bytes of all files of one dataset; `DATASET_BYTES` unless given. */
  readonly quotaBytes?: number;
  readonly taskOptions?: TasksOptions;
  /** Kinds of tasks beside those of datasets, by name. */
  readonly kinds?: Readonly<Record<string, TaskKind>>;
  /** Keeps an event for each file and each task; without it none is kept. */
  readonly events?: Events;
}

/** Opens the datasets and the queue of their tasks, which goes on where it was. Close the tasks before what ingestion uses, and the store after it. */
export function openDatasets({ store, projects, ingest, quotaBytes, taskOptions, kinds, events }: OpenDatasetsParts): {
  datasets: Datasets;
  tasks: Tasks;
} {
  const places = new DatasetPlaces();
  const tasks = new Tasks(store, { ...kinds, [DATASET_KIND]: datasetKind({ projects, places, ingest }, events) }, taskOptions);
  projects.onErase((namespace, name) => tasks.erase(namespace, name));
  const datasets = new Datasets({ projects, places, tasks, ingest, ...(quotaBytes === undefined ? {} : { quotaBytes }) });
  return { datasets, tasks };
}
