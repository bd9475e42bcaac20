import { join } from 'node:path';
import type { ModelPlaces } from './contract.js';
import { cachedRepositories, hubCacheFolder } from './hub-cache.js';
import { ownModels, topFiles } from './own-folders.js';

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
