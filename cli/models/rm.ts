import { humanSize } from '../../runtime/base/files.js';
import type { Run } from '../verb.js';
import { openModelCache } from './model-cache.js';

/** Removes a model from the model cache. */
export const rm: Run = async ({ words: [name = ''], daemon, out }) => {
  const cache = await openModelCache(daemon);
  const freed = await cache.remove(name).finally(() => cache.close());
  return { result: { removed: name, freed_bytes: freed }, show: () => out.line(`removed ${name}: ${humanSize(freed)} are free again`) };
};
