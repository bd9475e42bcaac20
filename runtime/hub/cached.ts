import { readdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { aliasOf } from '../models/aliases.js';
import { cachedRepositories, filesBelow, snapshots } from '../models/hub-cache.js';
import { quantisationOf } from '../models/quantisations.js';
import { ownRepositories } from '../models/repositories.js';
import type { ModelPlaces } from '../models/resolve.js';
import { RepositoryLayout } from './layout.js';
import { repositoryName } from './plan.js';

/** A model on this machine, as listings show it. */
export interface CachedModel {
  readonly id: string;
  /** `hub`: in the cache that other programs share; `folder`: put into `{data_dir}/models` by hand. */
  readonly source: 'hub' | 'folder';
  readonly format: 'gguf' | 'onnx' | 'other';
  /** Upper case, sorted. */
  readonly quantisations: readonly string[];
  /** Each file once, in however many snapshots it is shown. */
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /** Commits, newest first; none for folders. */
  readonly revisions: readonly string[];
  readonly path: string;
}

function formatOf(files: readonly string[]): CachedModel['format'] {
  if (files.some((file) => /\.gguf$/i.test(file))) return 'gguf';
  return files.some((file) => /\.onnx$/i.test(file)) ? 'onnx' : 'other';
}

function quantisationsOf(files: readonly string[]): string[] {
  const models = files.filter((file) => !/mmproj/i.test(basename(file)));
  const named = models.map((file) =>
    /\.gguf$/i.test(file) ? quantisationOf(file) : (/[_-]([a-z0-9]+)\.onnx$/i.exec(basename(file))?.[1]?.toUpperCase() ?? null),
  );
  return [...new Set(named.filter((name) => name !== null && name !== 'MODEL'))].sort() as string[];
}

/** Sizes and times of files, each counted once however many names it has. */
async function weigh(paths: readonly string[]): Promise<{ sizeBytes: number; modifiedAt: Date }> {
  const real = new Set(await Promise.all(paths.map((path) => realpath(path).catch(() => path))));
  let [sizeBytes, newest] = [0, 0];
  for (const path of real) {
    const facts = await stat(path).catch(() => null);
    sizeBytes += facts?.size ?? 0;
    newest = Math.max(newest, facts?.mtimeMs ?? 0);
  }
  return { sizeBytes, modifiedAt: new Date(newest) };
}

async function inHub(cache: string, id: string): Promise<CachedModel | null> {
  const { folder } = new RepositoryLayout(cache, id);
  const shown = await Promise.all((await snapshots(folder)).map(async (path) => ({ path, files: await filesBelow(path, folder) })));
  const full = shown.filter(({ files }) => files.length > 0);
  const files = full.flatMap(({ path, files }) => files.map((file) => join(path, file)));
  if (files.length === 0) return null;
  const revisions = full.map(({ path }) => basename(path));
  return {
    id,
    source: 'hub',
    format: formatOf(files),
    quantisations: quantisationsOf(files),
    revisions,
    path: folder,
    ...(await weigh(files)),
  };
}

async function inFolder(places: ModelPlaces, id: string): Promise<CachedModel> {
  const path = join(places.folder, ...id.split('/'));
  const files = (await filesBelow(path, places.folder)).map((file) => join(path, file));
  return {
    id,
    source: 'folder',
    format: formatOf(files),
    quantisations: quantisationsOf(files),
    revisions: [],
    path,
    ...(await weigh(files)),
  };
}

async function asFile(places: ModelPlaces, name: string): Promise<CachedModel> {
  const path = join(places.folder, name);
  return {
    id: name,
    source: 'folder',
    format: 'gguf',
    quantisations: quantisationsOf([name]),
    revisions: [],
    path,
    ...(await weigh([path])),
  };
}

/** The models on this machine, by whatever program they came: the hub cache, then folders and GGUF files of `{data_dir}/models`. */
export async function cachedModels(places: ModelPlaces): Promise<CachedModel[]> {
  const cached = await Promise.all((await cachedRepositories(places.hub)).sort().map((id) => inHub(places.hub, id)));
  const own = await Promise.all((await ownRepositories(places)).map((id) => inFolder(places, id)));
  const names = (await readdir(places.folder).catch(() => [])).filter((name) => /\.gguf$/i.test(name)).sort();
  const single = await Promise.all(names.map((name) => asFile(places, name)));
  return [...cached.filter((model) => model !== null), ...own, ...single];
}

/** What the removal of a model took away. */
export interface Removal {
  readonly id: string;
  readonly revisions: number;
  readonly freedBytes: number;
  readonly path: string;
}

/** Whether a cache key of a loaded model (4-runtime-wire 1.2) is about a model of this id; the id stands between two colons. */
function isOf(key: string, id: string): boolean {
  const ids = key.toLowerCase().split(':');
  const own = id.toLowerCase();
  return ids.some((one) => one === own || aliasOf(one)?.repositories.some((repository) => repository.toLowerCase() === own));
}

/**
 * Removes a model with all its revisions from the hub cache; a quantisation in the name makes no difference. `inUse` are the keys of loaded
 * models and the ids under way. Throws `conflict` while one of them needs it, `not_found` for what the cache does not have.
 */
export async function removeModel(
  name: string,
  places: ModelPlaces,
  inUse: { keys: readonly string[]; active: readonly string[] },
): Promise<Removal> {
  const { id } = repositoryName(name);
  const layout = new RepositoryLayout(places.hub, id);
  const key = inUse.keys.find((one) => isOf(one, id));
  if (key !== undefined)
    throw new Failure('conflict', `Model "${id}" is loaded (${key}); wait until it is unloaded, then remove it.`, { code: 'ModelInUse' });
  if (inUse.active.some((one) => one.toLowerCase() === id.toLowerCase()))
    throw new Failure('conflict', `Model "${id}" is being downloaded; stop the download first.`, { code: 'ModelInUse' });
  if (!(await layout.exists())) {
    throw new Failure('not_found', `Model "${id}" is not in the model cache ${places.hub}. "quern models" lists what is.`, {
      code: 'ModelNotFound',
    });
  }
  const revisions = (await snapshots(layout.folder)).length;
  const held = ['blobs', 'snapshots'].map((name) =>
    readdir(join(layout.folder, name), { recursive: true, withFileTypes: true }).catch(() => []),
  );
  const everything = (await Promise.all(held)).flat();
  const { sizeBytes } = await weigh(everything.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)));
  // What shows a model goes before its bytes, so that a removal which is cut short leaves nothing that looks whole.
  for (const part of ['refs', 'snapshots']) await rm(join(layout.folder, part), { recursive: true, force: true });
  for (const folder of layout.everything) await rm(folder, { recursive: true, force: true });
  return { id, revisions, freedBytes: sizeBytes, path: layout.folder };
}
