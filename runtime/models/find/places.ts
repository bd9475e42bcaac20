import { AsyncLocalStorage } from 'node:async_hooks';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { isInside, resolvesInside } from '../../base/files.js';
import { isImportanceMatrix, opensModel } from '../../formats/gguf-names.js';
import type { ModelPlaces } from './contract.js';
import { cachedRepositories, filesBelow, hubCacheFolder } from './hub-cache.js';
import { isNameable } from './names.js';

/** Built-in models lie in `build/models` of the package, beside this file's own place in `build/runtime/models/find`. */
const BUILT_IN_FOLDER = join(import.meta.dirname, '..', '..', '..', 'models');

/** The places that hold for a data directory. */
export function modelPlaces(dataDir: string, env: NodeJS.ProcessEnv = process.env): ModelPlaces {
  return { folder: join(dataDir, 'models'), builtIn: BUILT_IN_FOLDER, hub: hubCacheFolder(env) };
}

/** Names that `findGguf` knows without a look into folders that were put there by hand. */
export async function namedModels(places: ModelPlaces): Promise<string[]> {
  const [builtIn, own, cached] = await Promise.all([topFiles(places.builtIn), topFiles(places.folder), cachedRepositories(places.hub)]);
  return [...new Set([...builtIn.map((file) => file.replace(/\.gguf$/i, '')), ...own, ...cached])];
}

/** Names that `findGguf` knows now: built-in models, files and folders of the models folder, and cached repositories. */
export async function knownModels(places: ModelPlaces): Promise<string[]> {
  const [named, { repositories, files }] = await Promise.all([namedModels(places), ownModels(places.folder)]);
  return [...new Set([...named, ...repositories, ...files])];
}

/** Whether who runs the machine has named a path, for work that is bound; undefined for other work. */
const namedPaths = new AsyncLocalStorage<((path: string) => boolean) | undefined>();

/**
 * Does work for somebody who does not run the machine: an absolute path may name a model in the places of models and no other file, but for those that
 * `isNamed` by who does.
 */
export const withinModelPlaces = <T>(work: () => T, isNamed: (path: string) => boolean = () => false): T => namedPaths.run(isNamed, work);

/** Does work for who runs the machine, whoever's request it begins in. */
export const withinAnyPlace = <T>(work: () => T): T => namedPaths.run(undefined, work);

/** Throws `forbidden` for an absolute path outside of these folders where the work is bound to them, whether something lies there or not. */
export function requireOwnPlace(path: string, folders: readonly string[]): void {
  const isNamed = namedPaths.getStore();
  if (!isNamed || isNamed(path)) return;
  const whole = resolve(path);
  if (folders.some((folder) => isInside(resolve(folder), whole))) return;
  throw new Failure(
    'forbidden',
    `The path ${path} is outside the models folder and the model cache of this machine; name a model there, or ask those who run this machine to put it there.`,
    { code: 'PathRefused' },
  );
}

/** Files that an engine here can run. */
export const WEIGHTS = /\.(?:onnx|gguf)$/i;
const GGUF = /\.gguf$/i;
/** What a pipeline has beside the folders of its parts. */
const PIPELINE = 'model_index.json';

/** What a folder is that was put into `{data_dir}/models` by hand. */
interface OwnFolder {
  /** As `filesBelow` gives them. */
  readonly files: readonly string[];
  /** Its files with weights. */
  readonly weights: readonly string[];
  /** `parts`: one model with all that lies below; `weights`: one that has its weights at the top, further ones may lie below; null: none itself. */
  readonly kind: 'parts' | 'weights' | null;
}

const isAtTop = (file: string): boolean => !file.includes('/');

function classifyFolder(files: readonly string[]): OwnFolder {
  const weights = files.filter((file) => WEIGHTS.test(file) && !isImportanceMatrix(file));
  const isPipeline = weights.length > 0 && files.includes(PIPELINE);
  // No repository is called `onnx`: exports lie there.
  if (isPipeline || weights.some((file) => file.startsWith('onnx/'))) return { files, weights, kind: 'parts' };
  return { files, weights, kind: weights.some(isAtTop) ? 'weights' : null };
}

/** A link may not lead out of the models folder. */
async function folderOf(root: string, name: string): Promise<OwnFolder> {
  const folder = join(root, ...name.split('/'));
  return classifyFolder((await resolvesInside(root, folder)) ? await filesBelow(folder, root) : []);
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** What lies in folders below `{data_dir}/models`. */
interface OwnModels {
  /**
   * `<name>` where the folder has weights, by itself or in `onnx/`, or is a pipeline, else `<org>/<repo>` for each folder below it with weights;
   * absolute paths of those with ONNX files that have no such name.
   */
  readonly repositories: readonly string[];
  /** GGUF files in folders that cannot be named, relative, with '/': they are named by their path. */
  readonly files: readonly string[];
}

/** Models in folders below `root`, which is `{data_dir}/models`, by names that callers can give. */
export async function ownModels(root: string): Promise<OwnModels> {
  const [repositories, files]: [string[], string[]] = [[], []];
  const add = (id: string, weights: readonly string[], isOne: boolean): void => {
    if (isNameable(id)) repositories.push(id);
    else {
      if (!isOne) files.push(...weights.filter((file) => GGUF.test(file) && opensModel(file)).map((file) => `${id}/${file}`));
      if (isOne || weights.some((file) => !GGUF.test(file))) repositories.push(join(root, ...id.split('/')));
    }
  };
  for (const first of await foldersIn(root)) {
    const { files: all, weights, kind } = await folderOf(root, first);
    if (kind !== null) add(first, kind === 'weights' ? weights.filter(isAtTop) : weights, kind === 'parts');
    if (kind === 'parts') continue;
    for (const second of await foldersIn(join(root, first))) {
      const below = classifyFolder(all.filter((file) => file.startsWith(`${second}/`)).map((file) => file.slice(second.length + 1)));
      if (below.weights.length > 0) add(`${first}/${second}`, below.weights, below.kind === 'parts');
    }
  }
  return { repositories, files };
}

/** Names of the GGUF files at the top of `root`; a link that leads out of it can be opened only by the path to which it leads. */
export async function topFiles(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const found = entries.filter((entry) => !entry.isDirectory() && GGUF.test(entry.name) && !isImportanceMatrix(entry.name));
  const inside = await Promise.all(found.map((entry) => !entry.isSymbolicLink() || resolvesInside(root, join(root, entry.name))));
  return found.flatMap(({ name }, index) => (inside[index] ? [name] : [])).sort();
}

/**
 * Absolute paths of the GGUF files of the model `id` in a folder of its own below `root`, split ones and projectors among them: those at its top, and all.
 * The latter may be of other models.
 */
export async function ownGgufFiles(
  root: string,
  id: string,
): Promise<{ readonly top: readonly string[]; readonly all: readonly string[] }> {
  const { files, kind } = await folderOf(root, id);
  // The folder of an organisation is no model.
  if (kind === null && !id.includes('/')) return { top: [], all: [] };
  const gguf = files.filter((file) => GGUF.test(file));
  const paths = (some: readonly string[]): string[] => some.map((file) => join(root, ...id.split('/'), ...file.split('/')));
  return { top: paths(gguf.filter(isAtTop)), all: paths(gguf) };
}

/** The path of the first of these models that lies below `root`, as a folder or as one GGUF file; undefined where none does. */
export async function ownPath(root: string, ids: readonly string[]): Promise<string | undefined> {
  const { repositories: folders } = await ownModels(root);
  const files = await readdir(root).catch(() => [] as string[]);
  const found = ids.flatMap((id) => [...folders.filter((name) => name === id), ...files.filter((name) => name === `${id}.gguf`)])[0];
  return found === undefined ? undefined : join(root, ...found.split('/'));
}
