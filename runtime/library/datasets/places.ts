import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { Dataset } from '../../../schemas/generated/config/project.js';
import type { FileMetadata } from '../../../schemas/generated/core/datasets.js';
import { Locks } from '../../base/gate.js';
import { isName, quote } from '../../base/names.js';
import type { SourceFile } from '../../documents/parsers/contract.js';
import type { LoadedProject } from '../../projects/projects.js';
import { MAX_CACHED_FOLDERS, READS_AT_ONCE } from './contract.js';
import { DatasetFolder, pathExists, readEntry } from './folder.js';

/** A project and one of its datasets, as configured. */
export interface FoundDataset {
  readonly project: LoadedProject;
  readonly dataset: Dataset;
}

/** The dataset of a name. Throws `not_found` that lists the known ones. */
export function findDataset(project: LoadedProject, name: string): FoundDataset {
  const datasets = project.config.datasets ?? [];
  const dataset = datasets.find((one) => one.name === name);
  if (dataset) return { project, dataset };
  const known = datasets.length === 0 ? 'there are none' : `known: ${datasets.map((one) => one.name).join(', ')}`;
  throw new Failure('not_found', `Dataset ${quote(name)} not found in ${project.namespace}/${project.name} (${known}).`, {
    code: 'NotFound',
  });
}

/** Whether a dataset of the project, other than `except`, keeps a file in a database. */
export async function isKept(
  places: DatasetPlaces,
  project: LoadedProject,
  database: string,
  hash: string,
  except?: string,
): Promise<boolean> {
  for (const dataset of project.config.datasets ?? []) {
    if (dataset.database !== database || dataset.name === except) continue;
    if ((dataset.files ?? []).includes(hash) || (await places.list({ project, dataset })).some((file) => file.hash === hash)) return true;
  }
  return false;
}

/** The failure for a file that a dataset does not have. */
export function unknownFile(dataset: string, hash: string): Failure {
  return new Failure('not_found', `File ${quote(hash)} not found in dataset ${quote(dataset)}.`, { code: 'NotFound' });
}

/** A file of a dataset for reading. Throws `not_found`. */
export async function datasetFile(places: DatasetPlaces, found: FoundDataset, hash: string): Promise<SourceFile> {
  // What no entry names is no name of a file.
  const entry = (await places.list(found)).find((file) => file.hash === hash);
  const path = entry && (await places.raw(found, hash));
  if (!entry || path === undefined) throw unknownFile(found.dataset.name, hash);
  return { path, name: entry.original_file_name, mimeType: entry.mime_type, sizeBytes: entry.size };
}

/** The key under which changes of a dataset wait for each other. */
export function lockOf(namespace: string, project: string, name: string): string {
  return `${namespace}/${project}/${name}`;
}

/** Finds the files of datasets, each in its own folder; files of older projects, which shared one, are found there as well. */
export class DatasetPlaces {
  /** One change at a time per dataset. */
  readonly locks = new Locks();
  readonly #folders = new Map<string, DatasetFolder>();

  /** The folder of a dataset. Throws `not_found` for a name that cannot be one. */
  folder({ project, dataset }: FoundDataset): DatasetFolder {
    if (!isName(dataset.name)) {
      throw new Failure('not_found', `Dataset ${quote(dataset.name)} can have no files: its name cannot be a folder's. Rename it.`, {
        code: 'NotFound',
      });
    }
    const path = datasetPath(project, dataset.name);
    const folder = this.#folders.get(path) ?? new DatasetFolder(path);
    this.#folders.delete(path);
    this.#folders.set(path, folder);
    if (this.#folders.size > MAX_CACHED_FOLDERS) this.#folders.delete(this.#folders.keys().next().value!);
    return folder;
  }

  /** The files of a dataset, the oldest first, without those that a later one replaces: a crash may have left their entries. */
  async list(found: FoundDataset): Promise<FileMetadata[]> {
    if (!isName(found.dataset.name)) return [];
    const own = await this.folder(found).list();
    const have = new Set(own.map(({ hash }) => hash));
    const older = (found.dataset.files ?? []).filter((hash) => /^[0-9a-f]{64}$/.test(hash) && !have.has(hash));
    const files: FileMetadata[] = [];
    for (let from = 0; from < older.length; from += READS_AT_ONCE) {
      const entries = await Promise.all(
        older.slice(from, from + READS_AT_ONCE).map((hash) => readEntry(sharedPath(found, 'meta', `${hash}.json`))),
      );
      for (const entry of entries) if (entry) files.push(entry);
    }
    const all = [...files, ...own];
    const replacing = all.filter(({ replaces }) => replaces !== undefined);
    return all.filter(({ hash, timestamp }) => !replacing.some((other) => other.timestamp > timestamp && other.replaces!.includes(hash)));
  }

  /** Where the bytes of a file lie, if they do. */
  async raw(found: FoundDataset, hash: string): Promise<string | undefined> {
    const own = await this.folder(found).raw(hash);
    if (own !== undefined) return own;
    const shared = sharedPath(found, 'raw', hash);
    return (found.dataset.files ?? []).includes(hash) && (await pathExists(shared)) ? shared : undefined;
  }
}

/** The folder of a dataset's files. */
export function datasetPath(project: LoadedProject, name: string): string {
  return join(project.directory, 'lf_data', 'datasets', name);
}

/** A path in the folder that the datasets of older projects share; it is only read. */
function sharedPath({ project }: FoundDataset, ...names: string[]): string {
  return join(project.directory, 'lf_data', ...names);
}
