import { readdir, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { repositoriesOf } from '../models/aliases.js';
import { snapshots } from '../models/hub-cache.js';
import { weigh } from './cached.js';
import { RepositoryLayout } from './layout.js';

/** What the removal of a model took away. */
export interface Removal {
  /** As it was named; `path` tells the repository. */
  readonly id: string;
  readonly revisions: number;
  readonly freedBytes: number;
  readonly path: string;
}

/** What may need a model. */
export interface Needs {
  /** Keys of the models that are loaded or loading. */
  readonly loaded: readonly string[];
  /** Ids of the repositories that are being downloaded. */
  readonly active: readonly string[];
}

const isAmong = (ids: readonly string[], id: string): boolean => ids.some((one) => one.toLowerCase() === id.toLowerCase());

/** The repositories that an OCR engine may have its weights from. Its key names none, so the engine is asked where it would look. */
async function repositoriesOfOcr(name: string): Promise<string[]> {
  const { ocrEngine } = await import('../engines/ocr/index.js');
  const asked: string[] = [];
  const repository = async (id: string): Promise<undefined> => void asked.push(id);
  await ocrEngine(name)
    ?.find([], { folder: '', repository })
    .catch(() => undefined);
  return asked;
}

/** Whether a loaded model of this cache key (4-runtime-wire 1.2) may have its weights from a repository; its id stands between two colons. */
async function isOf(key: string, { repository, folder }: RepositoryLayout): Promise<boolean> {
  const [kind, ...rest] = key.split(':');
  const ids = kind === 'ocr' ? await repositoriesOfOcr(rest[0]!) : rest.flatMap(repositoriesOf);
  return isAmong(ids, repository) || key.includes(`:${folder}${sep}`);
}

/** Throws `conflict` while a model is needed. */
async function requireUnused(id: string, layout: RepositoryLayout, { loaded, active }: Needs): Promise<void> {
  for (const key of loaded) {
    if (await isOf(key, layout))
      throw new Failure('conflict', `Model "${id}" is loaded (${key}); wait until it is unloaded, then remove it.`, { code: 'ModelInUse' });
  }
  if (isAmong(active, layout.repository))
    throw new Failure('conflict', `Model "${id}" is being downloaded; stop the download first.`, { code: 'ModelInUse' });
}

/** The first of the repositories of a model that the cache has, or is about to have. Throws `not_found` where it has none. */
async function firstInCache(cache: string, repositories: readonly string[], active: readonly string[]): Promise<RepositoryLayout> {
  for (const repository of repositories) {
    const layout = new RepositoryLayout(cache, repository);
    if (isAmong(active, repository) || (await layout.exists())) return layout;
  }
  throw new Failure('not_found', `Model "${repositories[0]}" is not in the model cache ${cache}. "quern models" lists what is.`, {
    code: 'ModelNotFound',
  });
}

/**
 * Removes a model with all its revisions from a hub cache: the first of its repositories that is there. Throws `conflict` while something
 * needs it, `not_found` for what the cache does not have.
 */
export async function removeModel(cache: string, repositories: readonly [string, ...string[]], needs: Needs): Promise<Removal> {
  const [id] = repositories;
  const layout = await firstInCache(cache, repositories, needs.active);
  await requireUnused(id, layout, needs);
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
