import { humanSize } from '../../runtime/base/files.js';
import type { Run } from '../verb.js';
import { openModelCache } from './model-cache.js';

/** Prints the models on this machine with their formats, sizes and quantisations. */
export const list: Run = async ({ daemon, out }) => {
  const cache = await openModelCache(daemon);
  const models = await cache.list().finally(() => cache.close());
  return {
    result: models.map(({ sizeBytes, ...model }) => ({ ...model, size_bytes: sizeBytes })),
    show: () => {
      const rows = models.map((row) => [row.id, row.format, humanSize(row.sizeBytes), row.source, row.quantisations.join(' ')]);
      out.table(['MODEL', 'FORMAT', 'SIZE', 'WHERE', 'QUANTISATIONS'], rows);
      if (rows.length === 0) out.line('none yet; "quern pull org/repo" fetches one, and "quern pull" says which suit this machine');
    },
  };
};
