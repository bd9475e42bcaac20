import { humanSize } from '../../runtime/base/files.js';
import type { Capabilities } from '../../schemas/generated/universal/models.js';
import { withDaemon } from '../daemon/client.js';
import type { Run } from '../verb.js';
import { openModelCache, pathOf } from './model-cache.js';

/** What a model on this machine is, and what it can do. */
export const show: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [name = ''] = call.words;
    const { capabilities } = await daemon.ask<Capabilities>(`/v1/models/${pathOf(name)}/capabilities`, { api: 'runtime' });
    const cache = await openModelCache(call.daemon);
    const models = await cache.list().finally(() => cache.close());
    const found = models.find(({ id }) => id === name || name.startsWith(`${id}:`)) ?? null;
    return {
      result: { model: name, ...(found ? { format: found.format, size_bytes: found.sizeBytes, source: found.source } : {}), capabilities },
      show: () => {
        if (found)
          call.out.line(
            `${found.id}: ${found.format}, ${humanSize(found.sizeBytes)}, ${found.source}${found.quantisations.length > 0 ? `, ${found.quantisations.join(' ')}` : ''}`,
          );
        call.out.table(
          ['CAN', ''],
          Object.entries(capabilities).map(([what, value]) => [what, typeof value === 'string' ? value : JSON.stringify(value)]),
        );
      },
    };
  });
