import { opendir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { resolvesInside } from '../../base/files.js';
import { howToFetch, modelMissing } from '../../formats/model-files.js';
import { graphBytes } from '../../formats/onnx/graph-bytes.js';
import type { FoundModel, FoundRepository, ModelPlaces } from './contract.js';
import { filesBelow, repositoryFolder, snapshotFiles, snapshots } from './hub-cache.js';
import { aliasOf, parseName, wholeId } from './names.js';
import { requireOwnPlace, WEIGHTS } from './places.js';

/** Files and folders in an absolute folder, which may be any of the machine. */
const LOOKED_AT_LIMIT = 5000;

interface Place {
  readonly folder: string;
  /** Links may lead anywhere below it and no further. */
  readonly root: string;
  readonly source: FoundRepository['source'];
}

type Contents = Place & Pick<FoundRepository, 'files'>;

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}

/** Folders in which the repository may lie, in the order of looking. */
async function placesOf(repository: string, places: ModelPlaces): Promise<Place[]> {
  const own = join(places.folder, ...repository.split('/'));
  const cache = repositoryFolder(places.hub, repository);
  return [
    { folder: own, root: places.folder, source: 'folder' },
    ...(await snapshots(cache)).map((folder) => ({ folder, root: cache, source: 'hub' as const })),
  ];
}

async function listPlace(place: Place): Promise<Contents> {
  const isOwn = place.folder === place.root || (await resolvesInside(place.root, place.folder));
  if (!isOwn || !(await isFolder(place.folder))) return { ...place, files: [] };
  const below = place.source === 'hub' ? snapshotFiles : filesBelow;
  return { ...place, files: await below(place.folder, place.root) };
}

/** The first place of a repository that holds weights; `without` gathers the places that hold only other files. */
async function firstWithWeights(candidates: readonly Place[], without: Contents[]): Promise<Contents | undefined> {
  for (const place of candidates) {
    const found = await listPlace(place);
    if (found.files.some((file) => WEIGHTS.test(file))) return found;
    if (found.files.length > 0) without.push(found);
  }
  return undefined;
}

function repositoryMissing(name: string, id: string, lookedIn: readonly string[], without: readonly Contents[]): Failure {
  const there = without[0];
  const why = there
    ? `it is not complete on this machine; ${there.folder} has no ONNX or GGUF file (it holds ${there.files.slice(0, 3).join(', ')})`
    : `it is not on this machine; looked in ${lookedIn.join('; ')}`;
  return modelMissing(name, { why, remedies: [howToFetch(id), 'put its files into one of these folders'], lookedIn });
}

/** Whether more than `limit` files and folders lie in the tree of `folder`; counts no further, so that any folder costs little. */
async function holdsMoreThan(folder: string, limit: number): Promise<boolean> {
  const folders = [folder];
  let count = 0;
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    try {
      for await (const entry of await opendir(path, { bufferSize: 512 })) {
        count += 1;
        if (count > limit) return true;
        if (entry.isDirectory()) folders.push(join(path, entry.name));
      }
    } catch {
      // What cannot be read holds nothing for us.
    }
  }
  return false;
}

/** A folder given by its absolute path, with or without a quantisation after the last colon. */
async function absoluteFolder(name: string): Promise<FoundRepository> {
  const colon = name.lastIndexOf(':');
  const isWhole = colon < 0 || (await isFolder(name));
  const folder = isWhole ? name : name.slice(0, colon);
  const isLarge = await holdsMoreThan(folder, LOOKED_AT_LIMIT);
  const found = isLarge ? undefined : await firstWithWeights([{ folder, root: folder, source: 'folder' }], []);
  if (!found) {
    const why = isLarge
      ? `holds more than ${LOOKED_AT_LIMIT} files and folders, too many to search: name the folder of one model`
      : 'is not there or holds no ONNX or GGUF file';
    throw modelMissing(name, { why: `the folder ${folder} ${why}`, remedies: ['check the path'], lookedIn: [folder] });
  }
  const quantisation = isWhole ? null : name.slice(colon + 1).toUpperCase() || null;
  return { id: folder, quantisation, folder, files: found.files, source: 'folder', repository: folder, facts: {}, notes: [] };
}

/**
 * Finds the folder of a model that has several files: `{data_dir}/models/<org>/<repo>` or `{data_dir}/models/<name>`, a snapshot of the hub
 * cache, the same for the repositories that the alias table names, or an absolute folder. Only places with ONNX or GGUF weights count.
 * Throws `not_found` (code `ModelNotFound`) that says where it looked and what to do, `bad_request` for what cannot be a name.
 */
export async function findRepository(name: string, places: ModelPlaces): Promise<FoundRepository> {
  if (isAbsolute(name) && !/\.gguf$/i.test(name)) {
    requireOwnPlace(name, [places.folder, places.hub]);
    return absoluteFolder(name);
  }
  const { id, quantisation, isPath } = parseName(name);
  if (isPath) {
    throw new Failure('bad_request', `"${name}" names one GGUF file; give the repository or folder of a model here.`, {
      code: 'InvalidModelName',
    });
  }
  const alias = aliasOf(id);
  const looked: string[] = [];
  const without: Contents[] = [];
  for (const repository of new Set([id, wholeId(id), ...(alias?.repositories ?? [])])) {
    looked.push(join(places.folder, ...repository.split('/')), repositoryFolder(places.hub, repository));
    const found = await firstWithWeights(await placesOf(repository, places), without);
    if (!found) continue;
    const isOther = repository !== id && repository !== wholeId(id);
    const notes = isOther ? [`${id} has no weights of its own here that run; those of ${repository}, exported from it, are used.`] : [];
    const { folder, files, source } = found;
    return { id, quantisation, folder, files, source, repository, facts: alias?.facts ?? {}, notes };
  }
  throw repositoryMissing(name, id, looked, without);
}

/** The same, and undefined where the model is not on this machine. */
export function findRepositoryHere(name: string, places: ModelPlaces): Promise<FoundRepository | undefined> {
  return findRepository(name, places).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'ModelNotFound') return undefined;
    throw error;
  });
}

/** The model of a repository by the graphs that are opened of it: relative, the main one first. */
export async function withGraphs(found: FoundRepository, graphs: readonly string[]): Promise<FoundModel> {
  const { id, quantisation, folder, source, facts, notes } = found;
  const weights = graphs.map((graph) => join(folder, graph)) as [string, ...string[]];
  return { id, quantisation, format: 'onnx', weights, folder, sizeBytes: await graphBytes(weights), source, facts, notes };
}

/**
 * Where a text model's settings lie in its repository: in its folder, else in `onnx/` beside the graph, absolute. Undefined where neither has both
 * config.json and tokenizer.json, without which an export reads no text.
 */
export function settingsFolder({ folder, files }: Pick<FoundRepository, 'folder' | 'files'>): string | undefined {
  const place = ['', 'onnx/'].find((one) => ['config.json', 'tokenizer.json'].every((name) => files.includes(one + name)));
  return place === undefined ? undefined : join(folder, place);
}
