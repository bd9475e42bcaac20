import { lstat, readdir, readlink, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { removeLeft } from '../../formats/onnx/outside-weights.js';
import { repositoryFolder, snapshotFiles, snapshots } from '../find/hub-cache.js';
import { repositoriesOf } from '../find/names.js';
import type { RepositoryPart } from '../find/parts.js';
import { ownPath, WEIGHTS } from '../find/places.js';
import { whisperRepositories } from '../find/transcriber.js';
import { RepositoryLayout } from './layout.js';
import { measureFiles } from './list.js';
import { storedFiles, sweepStore } from './sweep.js';

/** What the removal of a model took away. */
export interface Removal {
  /** As it was named; `path` tells the repository. */
  readonly id: string;
  readonly revisions: number;
  readonly freedBytes: number;
  readonly path: string;
}

/** Where models lie. */
interface RemovalPlaces {
  /** The hub cache, from which they are removed. */
  readonly cache: string;
  /** `{data_dir}/models`, from which nothing is removed. */
  readonly own?: string | undefined;
}

/** What may need a model. */
interface Needs {
  /** Keys of the models that are loaded or loading, asked for when all else is known. */
  readonly loaded: () => readonly string[];
  /** Ids of the repositories that are being downloaded. */
  readonly active: readonly string[];
}

const isAmong = (ids: readonly string[], id: string): boolean => ids.some((one) => one.toLowerCase() === id.toLowerCase());

/** The repositories that an OCR engine may have its weights from. Its key names none, so the engine is asked where it would look. */
async function repositoriesOfOcr(name: string): Promise<string[]> {
  const { ocrEngine } = await import('../../engines/ocr/index.js');
  const asked: string[] = [];
  const repository = async (id: string): Promise<undefined> => void asked.push(id);
  await ocrEngine(name)
    ?.find([], { folder: '', repository })
    .catch(() => undefined);
  return asked;
}

/** What of a repository is removed. */
interface RemovalTarget {
  readonly cache: string;
  readonly layout: RepositoryLayout;
  /** Its folder, all links followed unless the link alone goes. */
  readonly real: string;
}

/**
 * Whether a loaded model of this cache key (4-runtime-wire 1.2) may have its weights from a repository; its id stands between two colons. Another
 * repository's folder may be a link to the same.
 */
async function mayUseTarget(key: string, { cache, layout, real }: RemovalTarget): Promise<boolean> {
  const [kind, ...rest] = key.split(':');
  const ids =
    kind === 'ocr' ? await repositoriesOfOcr(rest[0]!) : kind === 'speech' ? whisperRepositories(rest[0]!) : rest.flatMap(repositoriesOf);
  if (isAmong(ids, layout.repository) || [layout.folder, real].some((folder) => key.includes(`:${folder}${sep}`))) return true;
  return (await Promise.all(ids.map((id) => realpath(repositoryFolder(cache, id)).catch(() => null)))).includes(real);
}

/** Throws `conflict` while a model is needed. */
async function requireUnused(id: string, doomed: RemovalTarget, { loaded, active }: Needs): Promise<void> {
  for (const key of loaded()) {
    if (!(await mayUseTarget(key, doomed))) continue;
    throw new Failure('conflict', `Model "${id}" is in memory; "quern stop ${id}" unloads it. Then remove it.`, { code: 'ModelInUse' });
  }
  const fetched = await Promise.all(active.map((one) => realpath(repositoryFolder(doomed.cache, one)).catch(() => null)));
  if (isAmong(active, doomed.layout.repository) || fetched.includes(doomed.real))
    throw new Failure(
      'conflict',
      `Model "${id}" is being downloaded. GET /v1/tasks of the core API lists what projects fetch, and DELETE /v1/tasks/{id} ends it; a "quern pull" ends with Ctrl-C.`,
      { code: 'ModelInUse' },
    );
}

/** Whether a repository in the cache has weights that run here; another program may hold the same model in a form of its own. */
async function hasWeights({ folder }: RepositoryLayout): Promise<boolean> {
  const files = (await snapshots(folder)).map((snapshot) => snapshotFiles(snapshot, folder));
  return (await Promise.all(files)).flat().some((file) => WEIGHTS.test(file));
}

/**
 * The one of the repositories of a model that the cache has, or is about to have: the first with weights that run here, else the first that is
 * there. Throws `not_found` where it has none, with the path of one that was put into `own` by hand.
 */
async function firstInCache(
  { cache, own }: RemovalPlaces,
  repositories: readonly string[],
  active: readonly string[],
): Promise<RepositoryLayout> {
  const there: RepositoryLayout[] = [];
  for (const repository of repositories) {
    const layout = new RepositoryLayout(cache, repository);
    if (isAmong(active, repository) || (await hasWeights(layout))) return layout;
    if (await layout.exists()) there.push(layout);
  }
  if (there[0]) return there[0];
  const byHand = own === undefined ? undefined : await ownPath(own, repositories);
  const remedy =
    byHand === undefined
      ? '"quern models" lists what is.'
      : `It was put into the models folder by hand, where nothing is removed; delete ${byHand} yourself.`;
  throw new Failure('not_found', `Model "${repositories[0]}" not found in the model cache ${cache}. ${remedy}`, { code: 'ModelNotFound' });
}

/**
 * Removes a model with all its revisions from a hub cache: the one of its repositories that is used here. Throws `conflict` while something
 * needs it, `not_found` for what the cache does not have.
 */
export async function removeModel(places: RemovalPlaces, repositories: readonly [string, ...string[]], needs: Needs): Promise<Removal> {
  const [id] = repositories;
  const layout = await firstInCache(places, repositories, needs.active);
  // A link to another repository's folder goes alone: what lies there is that one's.
  const target = await realpath(layout.folder).catch(() => layout.folder);
  const isLink = await lstat(layout.folder).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  );
  const isAlias = isLink && basename(target).startsWith('models--');
  const revisions = isAlias ? 0 : (await snapshots(layout.folder)).length;
  const held = (isAlias ? [] : ['blobs', 'snapshots']).map((name) =>
    readdir(join(layout.folder, name), { recursive: true, withFileTypes: true }).catch(() => []),
  );
  const everything = (await Promise.all(held)).flat();
  const { sizeBytes } = await measureFiles(everything.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)));
  const stored = isAlias ? [] : await storedFiles(places.cache, layout.folder);
  await requireUnused(id, { cache: places.cache, layout, real: isAlias ? layout.folder : target }, needs);
  // What shows a model goes before its bytes, so that a removal which is cut short leaves nothing that looks whole. The bytes by name, because the folder
  // may be a link to another disk, which alone goes with it.
  for (const part of isAlias ? [] : ['refs', 'snapshots', 'blobs']) await rm(join(layout.folder, part), { recursive: true, force: true });
  for (const folder of layout.everything) await rm(folder, { recursive: true, force: true });
  await removeLeft(places.cache);
  return { id, revisions, freedBytes: sizeBytes + (await sweepStore(places.cache, stored)), path: layout.folder };
}

/**
 * Removes the files of one model from a repository that has others too, in all its revisions, and the whole repository where nothing else is left.
 * Throws as `removeModel` does.
 */
export async function removePart(places: RemovalPlaces, part: RepositoryPart, needs: Needs): Promise<Removal> {
  const { cache } = places;
  const { name, repository, files, isKey } = part;
  const layout = new RepositoryLayout(cache, repository);
  const shown = await Promise.all(
    (await snapshots(layout.folder)).map(async (path) => ({ path, files: await snapshotFiles(path, layout.folder) })),
  );
  const paths = (of: (file: string) => boolean): string[] =>
    shown.flatMap((snapshot) => snapshot.files.filter(of).map((file) => join(snapshot.path, ...file.split('/'))));
  const own = paths((file) => files.includes(file));
  const others = paths((file) => !files.includes(file));
  if (own.length === 0)
    throw new Failure('not_found', `Model "${name}" not found in the model cache ${cache}. "quern models" lists what is.`, {
      code: 'ModelNotFound',
    });
  if (others.length === 0) return { ...(await removeModel(places, [repository], needs)), id: name };
  const used = needs.loaded().find(isKey);
  if (used !== undefined || isAmong(needs.active, repository))
    throw new Failure(
      'conflict',
      `Model "${name}" is ${used === undefined ? 'perhaps being downloaded' : `loaded (${used})`}; try again later.`,
      {
        code: 'ModelInUse',
      },
    );
  const stored = await storedFiles(cache, layout.folder);
  const { sizeBytes } = await measureFiles(own);
  const real = async (path: string): Promise<string> => realpath(path).catch(() => path);
  const kept = new Set(await Promise.all(others.map(real)));
  for (const path of own) {
    const blob = await readlink(path).then(
      (target) => resolve(dirname(path), target),
      () => path,
    );
    const isShared = kept.has(await real(path));
    await rm(path, { force: true });
    // Only what lies in the repository itself; the store that all share has its own count.
    if (!isShared && dirname(blob) === join(layout.folder, 'blobs')) await rm(blob, { force: true });
  }
  const freed = await sweepStore(cache, stored);
  return { id: name, revisions: own.length, freedBytes: sizeBytes + freed, path: layout.folder };
}
