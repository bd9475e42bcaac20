import { readlink, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { RemoteFile } from '../cache/layout.js';
import { repositoryFolder, snapshotFiles, snapshots } from '../find/hub-cache.js';
import { type Selection, select } from './selection.js';

/** A model that is whole in the cache. */
export interface Present {
  readonly commit: string;
  readonly selection: Selection;
}

/** A file of a snapshot as the hub would list it; its blob is what the link leads to. */
async function listedFile(snapshot: string, path: string): Promise<RemoteFile> {
  const file = join(snapshot, ...path.split('/'));
  const [{ size }, target] = await Promise.all([stat(file), readlink(file).catch(() => path)]);
  return { path, sizeBytes: size, etag: basename(target) };
}

/** Graphs name the files that their weights lie in, and modules.json the dense layers that follow them; a snapshot that others made may lack them. */
async function isWhole(snapshot: string, there: readonly RemoteFile[], { files, format }: Selection): Promise<boolean> {
  if (format !== 'onnx') return true;
  const [{ inspectGraph }, { lackingWeights }] = await Promise.all([
    import('../../formats/onnx/graph-file.js'),
    import('../../engines/encoders/onnx/dense-weights.js'),
  ]);
  const graphs = files.flatMap(({ path }) => (/\.onnx$/i.test(path) ? [join(snapshot, ...path.split('/'))] : []));
  const paths = new Set(there.map(({ path }) => path));
  try {
    for (const graph of graphs) inspectGraph(graph);
    return lackingWeights(snapshot, paths, graphs).length === 0;
  } catch (error) {
    if (error instanceof Failure || error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * What of a repository in the cache can be run without asking the hub: from the newest snapshot that has all of it, in just the
 * quantisation that is wanted. Undefined where nothing is.
 */
export async function presentModel(cache: string, repository: string, quantisation: string | null): Promise<Present | undefined> {
  const folder = repositoryFolder(cache, repository);
  for (const snapshot of await snapshots(folder)) {
    const files = await Promise.all((await snapshotFiles(snapshot, folder)).map((path) => listedFile(snapshot, path)));
    const selection = chosen(repository, files, quantisation);
    if (selection && selection.note === null && (await isWhole(snapshot, files, selection)))
      return { commit: basename(snapshot), selection };
  }
  return undefined;
}

/** Files of a repository in the cache, from the newest snapshot that has all of them; undefined where none has. */
export async function presentFiles(
  cache: string,
  repository: string,
  paths: readonly string[],
): Promise<{ readonly commit: string; readonly files: readonly RemoteFile[] } | undefined> {
  const folder = repositoryFolder(cache, repository);
  for (const snapshot of await snapshots(folder)) {
    const there = new Set(await snapshotFiles(snapshot, folder));
    if (!paths.every((path) => there.has(path))) continue;
    return { commit: basename(snapshot), files: await Promise.all(paths.map((path) => listedFile(snapshot, path))) };
  }
  return undefined;
}

/** What would be fetched of these files; nothing where they lack a part. */
function chosen(repository: string, files: readonly RemoteFile[], quantisation: string | null): Selection | null {
  try {
    return select(repository, files, quantisation);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}
