import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DaemonOptions } from '../../gateway/daemon/options.js';
import { BUILT_IN_MODELS, requireRemovable } from '../../models/built-in.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { cachedModels } from '../../runtime/models/cache/list.js';
import type { DownloadEvent } from '../../runtime/models/fetch/download.js';
import { Hub } from '../../runtime/models/fetch/hub.js';
import { withSpaceNote } from '../../runtime/models/fetch/space.js';
import type { ModelPlaces } from '../../runtime/models/find/contract.js';
import { modelPlaces } from '../../runtime/models/find/places.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { OutboundFault, OutboundReply } from '../../runtime/net/reply.js';
import { Failure } from '../../schemas/errors.js';
import type { Health } from '../../schemas/generated/universal/health.js';
import type { ModelList } from '../../schemas/generated/universal/ollama.js';
import { type Api, baseOf, keyHeaders, trustOf } from '../daemon/address.js';
import { eventDataOf, failureOf } from '../daemon/client.js';

/** What is shown of a model. */
export interface ShownModel {
  readonly id: string;
  readonly format: string;
  readonly quantisations: readonly string[];
  readonly sizeBytes: number;
  /** `hub`, `folder`, `built in`, or `made of` another. */
  readonly source: string;
}

/** The model cache as the commands see it: that of a running daemon, or worked on in this process where none runs. */
export interface ModelCache {
  /** What was interrupted goes on when it is asked for again. */
  download(name: string, signal?: AbortSignal): AsyncIterable<DownloadEvent>;
  /** Those that clients made of others are known to a running daemon only. */
  list(): Promise<ShownModel[]>;
  /** Resolves to the bytes that became free. */
  remove(name: string): Promise<number>;
  close(): Promise<void>;
}

/** A daemon that runs answers this soon. */
const ANSWER_MS = 5000;
/** How a request ends where nobody listens, or something else than a daemon does. */
const NO_DAEMON: ReadonlySet<string> = new Set<OutboundFault>(['ConnectFailed', 'BadResponse', 'ResponseTooLarge']);
/** A download may take this long. */
const LONGEST_MS = 7 * 24 * 3600 * 1000;
const EVENTS_BYTES = 1024 ** 3;

/** How daemons are asked whether they are there. */
interface Asking {
  readonly outbound: Outbound;
  readonly headers: Record<string, string>;
  readonly answerMs: number;
}

/** What an address answers in time; empty where nobody listens or what listens is no daemon. Throws where that cannot be told. */
async function answerOf({ outbound, headers, answerMs }: Asking, base: string, path: string): Promise<string> {
  const limits = { headersMs: answerMs, totalMs: answerMs };
  try {
    const reply = await outbound.request({ url: `${base}${path}`, policy: 'operator', headers, limits });
    const text = await reply.text();
    if (reply.status === 401 || reply.status === 403)
      throw new Failure('unauthorized', `the daemon at ${base} wants a key: give --api-key or QUERN_API_KEY.`);
    if (reply.status >= 500) throw new Failure('unavailable', `${base} answered ${reply.status}.`);
    return text;
  } catch (error) {
    if (error instanceof Failure && NO_DAEMON.has(error.code)) return '';
    throw error;
  }
}

/** The keys of the models that the runtime at an address has loaded or is loading; none where no runtime is. */
async function keysAt(asking: Asking, base: string): Promise<string[]> {
  const text = await answerOf(asking, base, '/health').catch((error: unknown) => refuseUnknownDaemon(base, error));
  try {
    const { loaded_models: loaded, loading_models: loading } = JSON.parse(text) as Health;
    return [...loaded, ...(loading ?? [])].map(String);
  } catch {
    return [];
  }
}

function refuseUnknownDaemon(base: string, cause: unknown): never {
  if (!(cause instanceof Failure) || cause.kind === 'unauthorized') throw cause;
  const why = `whether a daemon at ${base} needs the model cannot be told: ${cause.message}`;
  throw new Failure('unavailable', `${why} Try again when it answers, or stop it first.`, { cause });
}

/** The cache of the daemon that answers at the given address within `answerMs`, else that of this machine. */
export async function openModelCache(options: DaemonOptions, answerMs = ANSWER_MS): Promise<ModelCache> {
  const outbound = new Outbound(trustOf(options));
  const [core, runtime] = [baseOf(options, 'core'), baseOf(options, 'runtime')];
  const headers = keyHeaders(options);
  const asking = { outbound, headers, answerMs };
  try {
    const facts = await answerOf(asking, core, '/info');
    if (facts.includes('"data_directory"')) return daemonCache(outbound, { core, runtime }, headers);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'unauthorized') throw error;
    return ownCache(outbound, options, async () => refuseUnknownDaemon(core, error));
  }
  // "quern runtime" has models and no core API.
  return ownCache(outbound, options, () => keysAt(asking, runtime));
}

/** The models that come with the program. */
async function builtInModels({ builtIn }: ModelPlaces): Promise<ShownModel[]> {
  const found = await Promise.all(
    BUILT_IN_MODELS.map(async ({ name, file }) => {
      const facts = await stat(join(builtIn, file)).catch(() => undefined);
      return facts && { id: name, format: 'gguf', quantisations: [], sizeBytes: facts.size, source: 'built in' };
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** The models that a daemon has beside its cache: built in, or made of others by its clients. None where no runtime is. */
async function besideCache(ask: (api: Api, path: string) => Promise<unknown>): Promise<ShownModel[]> {
  const builtIn = new Set(BUILT_IN_MODELS.map(({ name }) => name));
  try {
    const { models } = (await ask('runtime', '/api/tags')) as ModelList;
    return models.flatMap(({ name, size, details: { format, parent_model: from } }) => {
      const id = name.replace(/:latest$/, '');
      const isBuiltIn = builtIn.has(id);
      if (!isBuiltIn && !from) return [];
      return [{ id, format, quantisations: [], sizeBytes: size, source: from ? `made of ${from}` : 'built in' }];
    });
  } catch (error) {
    if (error instanceof Failure && NO_DAEMON.has(error.code)) return [];
    throw error;
  }
}

/** `loaded` tells the keys of the models that others have loaded or are loading, and throws where that cannot be told. */
function ownCache(outbound: Outbound, { dataDir }: DaemonOptions, loaded: () => Promise<string[]>): ModelCache {
  // What the daemon logs would stand in the middle of the progress.
  if (process.env.LOG_LEVEL === undefined) setLogLevel('error');
  const hub = new Hub(outbound);
  const places = { ...modelPlaces(dataDir), hub: hub.cache };
  return {
    download: async function* (name, signal = new AbortController().signal) {
      const plan = await hub.plan(name, signal);
      const fit = await hub.fit(plan);
      if (!fit.canDownload) throw new Failure('disk_full', fit.message);
      yield* hub.download(withSpaceNote(plan, fit), signal);
    },
    list: async () => [...(await builtInModels(places)), ...(await cachedModels(places))],
    remove: async (name) => {
      requireRemovable(name);
      const keys = await loaded();
      return (await hub.remove(name, () => keys, places.folder)).freedBytes;
    },
    close: async () => {
      await hub.close();
      await outbound.close();
    },
  };
}

async function* eventsOf(reply: OutboundReply): AsyncGenerator<DownloadEvent, void, undefined> {
  for await (const data of eventDataOf(reply)) yield JSON.parse(data) as DownloadEvent;
}

/** A name as a part of an address. Throws `bad_request` for parts that an address would fold, so that it named something else. */
export function pathOf(name: string): string {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    throw new Failure('bad_request', `"${name}" is not the name of a model; "quern models" lists them.`, { code: 'InvalidModelName' });
  return parts.map(encodeURIComponent).join('/');
}

function daemonCache(outbound: Outbound, bases: Readonly<Record<Api, string>>, headers: Record<string, string>): ModelCache {
  const ask = async (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    { body, api = 'core', signal }: { body?: object; api?: Api; signal?: AbortSignal | undefined } = {},
  ): Promise<OutboundReply> => {
    const base = bases[api];
    const stop = signal === undefined ? {} : { signal };
    const content = body === undefined ? {} : { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } };
    const limits = { headersMs: LONGEST_MS, totalMs: LONGEST_MS, responseBytes: EVENTS_BYTES };
    const reply = await outbound.request({ url: `${base}${path}`, policy: 'operator', method, headers, limits, ...content, ...stop });
    if (reply.status !== 200) throw await failureOf(reply, base);
    return reply;
  };
  const json = async (reply: OutboundReply): Promise<unknown> => JSON.parse(await reply.text());
  return {
    download: async function* (name, signal) {
      yield* eventsOf(await ask('POST', '/v1/models/download', { body: { model_name: name }, signal }));
    },
    list: async () => {
      const { data } = (await json(await ask('GET', '/v1/models'))) as {
        data: { id: string; format: string; quantizations: string[]; size_bytes: number; source: string }[];
      };
      const cached = data.map(({ id, format, quantizations, size_bytes, source }) => ({
        id,
        format,
        quantisations: quantizations,
        sizeBytes: size_bytes,
        source,
      }));
      const beside = await besideCache(async (api, path) => json(await ask('GET', path, { api })));
      return [...beside, ...cached];
    },
    remove: async (name) => {
      return ((await json(await ask('DELETE', `/v1/models/${pathOf(name)}`))) as { size_freed: number }).size_freed;
    },
    close: () => outbound.close(),
  };
}
