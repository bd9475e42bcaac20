import { humanSize } from '../../runtime/base/files.js';
import type { Capabilities } from '../../schemas/generated/universal/models.js';
import type { ShowResponse } from '../../schemas/generated/universal/ollama.js';
import { type DaemonClient, withDaemon } from '../daemon/client.js';
import type { Run } from '../verb.js';
import { openModelCache, pathOf } from './model-cache.js';

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

/** Removes a model from the model cache. */
export const rm: Run = async ({ words: [name = ''], daemon, out }) => {
  const cache = await openModelCache(daemon);
  const freed = await cache.remove(name).finally(() => cache.close());
  return { result: { removed: name, freed_bytes: freed }, show: () => out.line(`removed ${name}: ${humanSize(freed)} are free again`) };
};

/** Gives a model a second name, under which it can be asked and shown. */
export const cp: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [source = '', destination = ''] = call.words;
    (await daemon.reply('/api/copy', { api: 'runtime', json: { source, destination } })).discard();
    return { result: { source, destination }, show: () => call.out.line(`${destination} is ${source} too`) };
  });

/** What the file of a model says of it; undefined for a model that has no such file, such as a voice. */
async function factsOf(daemon: DaemonClient, model: string) {
  const shown = await daemon.ask<ShowResponse>('/api/show', { api: 'runtime', json: { model } }).catch(() => undefined);
  if (!shown) return undefined;
  const { details, parameters, system } = shown;
  const info: Readonly<Record<string, unknown>> = shown.model_info;
  return {
    architecture: details.family,
    weights: details.parameter_size,
    quantisation: details.quantization_level,
    context: info[`${details.family}.context_length`],
    embedding: info[`${details.family}.embedding_length`],
    made_of: details.parent_model,
    system,
    settings: parameters?.replaceAll(/\s*\n/g, ', ').replaceAll(/ +/g, ' '),
  };
}

/** What a model on this machine is, and what it can do. */
export const show: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [name = ''] = call.words;
    const { capabilities } = await daemon.ask<Capabilities>(`/v1/models/${pathOf(name)}/capabilities`, { api: 'runtime' });
    const about = await factsOf(daemon, name);
    const cache = await openModelCache(call.daemon);
    const models = await cache.list().finally(() => cache.close());
    const found = models.find(({ id }) => id === name || name.startsWith(`${id}:`)) ?? null;
    return {
      result: {
        model: name,
        ...(found ? { format: found.format, size_bytes: found.sizeBytes, source: found.source } : {}),
        ...about,
        capabilities,
      },
      show: () => {
        if (found)
          call.out.line(
            `${found.id}: ${found.format}, ${humanSize(found.sizeBytes)}, ${found.source}${found.quantisations.length > 0 ? `, ${found.quantisations.join(' ')}` : ''}`,
          );
        if (about)
          call.out.table(
            ['IS', ''],
            Object.entries(about).flatMap(([what, value]) => (value ? [[what, String(value)]] : [])),
          );
        call.out.table(
          ['CAN', ''],
          Object.entries(capabilities).map(([what, value]) => [what, typeof value === 'string' ? value : JSON.stringify(value)]),
        );
      },
    };
  });
