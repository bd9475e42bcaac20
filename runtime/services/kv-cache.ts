import { join } from 'node:path';
import type { KvCache } from '../kv-cache/kv-cache.js';

/** The KV cache of a data directory, opened at its first use, so that a start does not wait for it. */
export interface OpenedKvCache {
  kvCache(): Promise<KvCache>;
  close(): Promise<void>;
}

/** See `OpenedKvCache`. */
export function openKvCache(dataDir: string): OpenedKvCache {
  let opening: Promise<KvCache> | undefined;
  return {
    kvCache: () => {
      opening ??= import('../kv-cache/kv-cache.js').then(({ KvCache }) => new KvCache({ folder: join(dataDir, 'cache', 'kv') }));
      return opening;
    },
    close: async () => (await opening)?.close(),
  };
}
