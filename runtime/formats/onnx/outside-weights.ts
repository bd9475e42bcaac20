import { lstatSync, realpathSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, normalize, sep } from 'node:path';
import { Failure } from '../../../schemas/errors.js';

const SNAPSHOT = /^(.*)[/\\](models--[^/\\]+)[/\\]snapshots[/\\]/;
const GATHERED = 'quern-open-';
/** What is older was left by a process that ended while it opened a graph. */
const LEFT_MS = 3600 * 1000;

/** The cache folder and the repository's folder in it where a graph lies in a snapshot of the hub cache. */
function placeOf(graph: string): { readonly cache: string; readonly repository: string } | undefined {
  const [, cache, name] = SNAPSHOT.exec(graph) ?? [];
  return cache === undefined || name === undefined ? undefined : { cache, repository: join(cache, name) };
}

/**
 * Where the hub's clients keep what a snapshot links to: the repository's blobs and the store that all repositories share. Real paths; links in their
 * place lead to what is no cache's (threat T4).
 */
export function linkedFolders(graph: string): string[] {
  const place = placeOf(graph);
  if (!place) return [];
  return [place.repository, place.cache]
    .map((folder) => join(folder, 'blobs'))
    .flatMap((path) => (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? [realpathSync(path)] : []));
}

/** Removes what a process left in a hub cache that ended while it opened a graph; what may not be removed stays. */
export async function removeLeft(cache: string): Promise<void> {
  const folder = join(cache, '.locks');
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(GATHERED)) continue;
    const facts = await stat(join(folder, name)).catch(() => null);
    if (facts && Date.now() - facts.mtimeMs > LEFT_MS)
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A graph that is to be opened. */
export interface LinkedGraph {
  readonly path: string;
  /** As messages name it. */
  readonly file: string;
  /** The files with its weights, relative to it. */
  readonly external: readonly string[];
}

/**
 * Opens a graph with weights in other files. ONNX Runtime reads them only beside the graph, all links followed, and the store of
 * the hub's clients has a folder for each file; from there they are opened in a folder of their own, to which they are linked as long as that takes.
 */
export async function openBeside<T>({ path: graph, file, external }: LinkedGraph, open: (path: string) => Promise<T>): Promise<T> {
  const place = placeOf(graph);
  const home = dirname(realpathSync(graph));
  const isBeside = (name: string): boolean => {
    const real = realpathSync(join(dirname(graph), name));
    return [home, realpathSync(dirname(graph))].some((folder) => real.startsWith(folder + sep));
  };
  if (!place || external.every(isBeside)) return open(graph);
  const locks = join(place.cache, '.locks');
  let folder: string | undefined;
  try {
    await mkdir(locks, { recursive: true });
    await removeLeft(place.cache);
    folder = await mkdtemp(join(locks, GATHERED));
    for (const name of new Set([basename(graph), ...external].map(normalize))) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await link(realpathSync(join(dirname(graph), name)), join(folder, name));
    }
    return await open(join(folder, basename(graph)));
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (!['link', 'mkdir', 'mkdtemp'].includes(syscall ?? '')) throw error;
    const remedy =
      code === 'EXDEV' || code === 'EMLINK'
        ? 'remove the model ("quern rm") and fetch it again ("quern pull")'
        : `the cache ${place.cache} must be writable and its files this user's; or fetch the model into a cache of your own (HF_HUB_CACHE)`;
    throw new Failure('invalid', `The weights of ${file} lie apart and cannot be linked together (${code}); ${remedy}.`, {
      code: 'InvalidModelFile',
      cause: error,
    });
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
