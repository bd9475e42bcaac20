import { humanSize } from '../runtime/base/sizes.js';
import { modelAndOptions, openModelCache } from './model-cache.js';

/** Removes a model from the model cache. */
export async function rm(args: string[]): Promise<void> {
  const { name, options } = modelAndOptions('rm', args);
  const cache = await openModelCache(options);
  const freed = await cache.remove(name).finally(() => cache.close());
  process.stdout.write(`removed ${name}: ${humanSize(freed)} are free again\n`);
}
