import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { aliasOf } from '../models/aliases.js';
import { snapshots } from '../models/hub-cache.js';
import { weigh } from './cached.js';
import { RepositoryLayout } from './layout.js';

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

/** Throws `conflict` while a model is needed by one of the keys of loaded models, or by one of the ids that are being downloaded. */
export function requireUnused(id: string, loaded: readonly string[], active: readonly string[]): void {
  const key = loaded.find((one) => isOf(one, id));
  if (key !== undefined)
    throw new Failure('conflict', `Model "${id}" is loaded (${key}); wait until it is unloaded, then remove it.`, { code: 'ModelInUse' });
  if (active.some((one) => one.toLowerCase() === id.toLowerCase()))
    throw new Failure('conflict', `Model "${id}" is being downloaded; stop the download first.`, { code: 'ModelInUse' });
}

/** Removes a repository with all its revisions from a hub cache. Throws `not_found` for what the cache does not have. */
export async function removeRepository(cache: string, id: string): Promise<Removal> {
  const layout = new RepositoryLayout(cache, id);
  if (!(await layout.exists())) {
    throw new Failure('not_found', `Model "${id}" is not in the model cache ${cache}. "quern models" lists what is.`, {
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
