import type { UploadedFile } from '../../../schemas/endpoint.js';
import type { FileMetadata } from '../../../schemas/generated/core/datasets.js';
import { isObject } from '../../base/json.js';
import { isName } from '../../base/names.js';
import type { LoadedProject, Projects } from '../../projects/projects.js';
import type { Ingest } from './contract.js';
import { type DatasetPlaces, type FoundDataset, findDataset, isKept, lockOf } from './places.js';

/** What versions are kept and dropped with. */
export interface VersionParts {
  readonly projects: Projects;
  readonly places: DatasetPlaces;
  readonly ingest: Ingest;
}

/** The documents whose chunks a file answers for: its own, and those of versions that it has not replaced in the database yet. */
export const documentsOf = ({ hash, replaces = [] }: FileMetadata): readonly string[] => [hash, ...replaces];

/** Files that have the name of an upload, and lay in the same folder where the client says so. */
export function sameNamed(files: readonly FileMetadata[], { name, folder = '' }: UploadedFile): FileMetadata[] {
  return files.filter((file) => file.original_file_name === name && (file.original_folder ?? '') === folder);
}

/** What an upload takes over from the files of its name: `replaced` are those that go. */
export function takenOver(
  upload: UploadedFile,
  named: readonly FileMetadata[],
  replaced: readonly FileMetadata[],
): Pick<FileMetadata, 'version' | 'replaces'> {
  const documents = new Set(replaced.flatMap(documentsOf));
  // An older content that comes again is the newest.
  documents.delete(upload.sha256);
  return {
    ...(named.length > 0 ? { version: Math.max(...named.map(({ version = 1 }) => version)) + 1 } : {}),
    ...(documents.size > 0 ? { replaces: [...documents] } : {}),
  };
}

/**
 * Takes a file out of a dataset, also where an older project file lists it; with `bytes` off the disk, with what was made of it. The chunks are the
 * caller's business.
 */
export async function takeOut(parts: VersionParts, found: FoundDataset, hash: string, bytes: boolean): Promise<void> {
  const { project, dataset } = found;
  if ((dataset.files ?? []).includes(hash))
    await parts.projects.edit(project.namespace, project.name, (raw) => withoutListed(raw, dataset.name, hash));
  await parts.places.folder(found).remove(hash, { bytes });
  if (bytes) await forgetRemoved(parts, project, [hash]);
}

/** Removes what was made of documents, as far as no dataset of the project has their bytes. */
export async function forgetRemoved({ places, ingest }: VersionParts, project: LoadedProject, hashes: readonly string[]): Promise<void> {
  const datasets = (project.config.datasets ?? []).filter(({ name }) => isName(name));
  const documentHashes: string[] = [];
  for (const hash of hashes) {
    const paths = await Promise.all(datasets.map((dataset) => places.raw({ project, dataset }, hash)));
    if (paths.every((path) => path === undefined)) documentHashes.push(hash);
  }
  await ingest.forgetDocuments({ namespace: project.namespace, project: project.name, documentHashes });
}

/** Removes the chunks of a document unless another dataset of the project keeps it in the same database; returns how many there were. */
export async function dropDocument(
  { places, ingest }: VersionParts,
  { project, dataset }: FoundDataset,
  documentHash: string,
): Promise<number> {
  const { database } = dataset;
  if (!(project.config.rag?.databases ?? []).some(({ name }) => name === database)) return 0;
  if (await isKept(places, project, database, documentHash, dataset.name)) return 0;
  return ingest.removeDocument({ namespace: project.namespace, project: project.name, database, documentHash });
}

/**
 * Ends the replacement by a file whose chunks are all stored: the chunks of the versions before it go, and what a crash left of their files.
 * Returns how many chunks went. May be repeated after a crash at any place: the file remembers what it replaces until all of that is gone.
 */
export function finishReplacement(parts: VersionParts, namespace: string, project: string, name: string, hash: string): Promise<number> {
  const { projects, places } = parts;
  return places.locks.run(lockOf(namespace, project, name), async () => {
    const found = findDataset(projects.load(namespace, project), name);
    const files = await places.list(found);
    const entry = files.find((file) => file.hash === hash);
    if (entry?.replaces === undefined) return 0;
    const chunks = await dropReplaced(parts, found, entry, files);
    const { replaces: _gone, ...settled } = entry;
    await places.folder(found).update(settled);
    return chunks;
  });
}

/**
 * Removes the chunks of the versions that a file replaces, and what a crash left of their files, which would be seen again without it; returns how
 * many chunks there were. `files` are those of the dataset: what is among them again stays.
 */
export async function dropReplaced(
  parts: VersionParts,
  found: FoundDataset,
  { replaces = [] }: FileMetadata,
  files: readonly FileMetadata[],
): Promise<number> {
  let chunks = 0;
  for (const document of replaces) {
    if (files.some((file) => file.hash === document)) continue;
    chunks += await dropDocument(parts, found, document);
    await takeOut(parts, found, document, true);
  }
  return chunks;
}

/** The project file without a hash that an older version listed in it. */
function withoutListed(raw: Record<string, unknown>, name: string, hash: string): Record<string, unknown> {
  const datasets = (Array.isArray(raw.datasets) ? raw.datasets : []).map((one: unknown) =>
    isObject(one) && one.name === name && Array.isArray(one.files) ? { ...one, files: one.files.filter((file) => file !== hash) } : one,
  );
  return { ...raw, datasets };
}
