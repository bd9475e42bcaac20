import { parse } from 'node:path';
import { builtInModels, requireRemovable } from '../../models/built-in.js';
import { humanSize } from '../../runtime/base/files.js';
import { log } from '../../runtime/base/log.js';
import type { NamedModels } from '../../runtime/completions/modelfiles/named-models.js';
import { type CachedModel, cachedModels } from '../../runtime/models/cache/list.js';
import type { Hub } from '../../runtime/models/fetch/hub.js';
import type { ModelFetch } from '../../runtime/models/fetch/model-fetch.js';
import type { ModelFetches } from '../../runtime/models/fetch/on-use.js';
import { nearestFolder, withSpaceNote } from '../../runtime/models/fetch/space.js';
import type { ModelPlaces } from '../../runtime/models/find/contract.js';
import { modelPlaces } from '../../runtime/models/find/places.js';
import type { Models } from '../../runtime/models/residency/models.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { CachedModelItem, DownloadRequest, ValidateReply, ValidateRequest } from '../../schemas/generated/core/models.js';
import type { CancelReply, Task } from '../../schemas/generated/core/tasks.js';
import { volume } from './system.js';

const TASKS = '/v1/tasks';

/** What the tasks of the machine work on. */
export interface FetchContext {
  readonly fetches: ModelFetches;
}

const STATES = { running: 'STARTED', done: 'SUCCESS', failed: 'FAILURE', cancelled: 'REVOKED' } as const;

/** A model that is fetched on its first use, as a task. */
function fetchTask(fetch: ModelFetch): Task {
  const { id, model, repository, state, bytes, totalBytes, bytesPerSecond, restS, progress, failure } = fetch;
  return {
    task_id: id,
    state: STATES[state],
    meta: {
      kind: 'model_fetch',
      model,
      repository,
      current: bytes,
      total: totalBytes,
      progress: totalBytes ? Math.floor((bytes / totalBytes) * 100) : 0,
      bytes_per_second: bytesPerSecond,
      eta_seconds: restS,
      message: progress,
    },
    result: state === 'done' ? { model, repository, size: totalBytes } : null,
    error: failure?.message ?? null,
    traceback: null,
    cancelled: state === 'cancelled',
  };
}

async function cancelFetch(fetch: ModelFetch): Promise<CancelReply> {
  const before = fetch.state;
  await fetch.cancel();
  const isCancelled = before === 'running';
  return {
    message: isCancelled ? `The fetch of ${fetch.model} is cancelled` : `The fetch of ${fetch.model} has ended already`,
    task_id: fetch.id,
    cancelled: isCancelled,
    pending_tasks_cancelled: 0,
    running_tasks_at_cancel: isCancelled ? 1 : 0,
    files_reverted: 0,
    files_failed_to_revert: 0,
    errors: null,
    already_completed: before === 'done' || before === 'failed',
    already_cancelled: before === 'cancelled',
  };
}

/** The tasks of the machine: models that are fetched on their first use. */
export const fetchEndpoints: Endpoint<FetchContext>[] = [
  endpoint<FetchContext>({
    method: 'GET',
    path: TASKS,
    id: 'machine_tasks',
    access: 'admins',
    summary: 'List the models that are fetched on their first use, the newest first',
    tag: 'tasks',
    response: 'core/tasks#TaskList',
    handler: ({ fetches }) => ({ json: { tasks: fetches.list().map(fetchTask) } }),
  }),
  endpoint<FetchContext>({
    method: 'GET',
    path: `${TASKS}/{task_id}`,
    id: 'machine_task_get',
    access: 'admins',
    summary: 'Read how far the fetch of a model is',
    tag: 'tasks',
    response: 'core/tasks#Task',
    handler: ({ fetches }, { params }) => ({ json: fetchTask(fetches.get(params.task_id!)) }),
  }),
  endpoint<FetchContext>({
    method: 'DELETE',
    path: `${TASKS}/{task_id}`,
    id: 'machine_task_cancel',
    access: 'admins',
    summary: 'Cancel the fetch of a model and remove what has come',
    tag: 'tasks',
    response: 'core/tasks#CancelReply',
    handler: async ({ fetches }, { params }) => ({ json: await cancelFetch(fetches.get(params.task_id!)) }),
  }),
];

const tag = 'models';
const MODELS = '/v1/models';

/** What the model cache endpoints work on. */
export interface ModelsContext {
  readonly dataDir: string;
  readonly models: Pick<Models, 'keys'>;
  readonly hub: Hub;
  readonly named?: Pick<NamedModels, 'remove'>;
}

const placesOf = ({ dataDir, hub }: ModelsContext): ModelPlaces => ({ ...modelPlaces(dataDir), hub: hub.cache });

/** Only models of the universal runtime have a cache here. */
function requireUniversal(provider: unknown): void {
  if (provider === undefined || provider === 'universal') return;
  throw new Failure('bad_request', `Unsupported provider "${String(provider)}": only "universal" has a model cache.`, {
    code: 'UnsupportedProvider',
  });
}

function item(model: CachedModel): CachedModelItem {
  return {
    model_id: model.id,
    id: model.id,
    name: model.id,
    size_bytes: model.sizeBytes,
    size: model.sizeBytes,
    size_human: humanSize(model.sizeBytes),
    last_modified: model.modifiedAt.toISOString(),
    revisions: [...model.revisions],
    path: model.path,
    format: model.format,
    quantizations: [...model.quantisations],
    source: model.source,
  };
}

/** The listing; what the file system refuses is logged and not shown. */
async function list(context: ModelsContext): Promise<CachedModelItem[]> {
  return (await cachedModels(placesOf(context))).map(item);
}

async function download({ hub }: ModelsContext, request: Request): Promise<Reply> {
  const { model_name: name, provider } = request.body as DownloadRequest;
  requireUniversal(provider ?? undefined);
  const plan = await hub.plan(name, request.signal);
  const fit = await hub.fit(plan);
  if (!fit.canDownload)
    throw new Failure('bad_request', fit.message, {
      code: 'NotEnoughSpace',
      fields: { available_bytes: fit.availableBytes, required_bytes: fit.requiredBytes },
    });
  const events = hub.download(withSpaceNote(plan, fit), request.signal);
  return { events: frames(events) };
}

async function* frames(events: AsyncIterable<object>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield `data: ${JSON.stringify(event)}\n\n`;
}

/** Whether a model can be downloaded; what cannot be found out forbids nothing. */
async function validate({ hub }: ModelsContext, request: Request): Promise<ValidateReply> {
  const { model_name: name } = request.body as ValidateRequest;
  const none = { total_bytes: 0, used_bytes: 0, free_bytes: 0, path: '', percent_free: 0 };
  try {
    const plan = await hub.plan(name, request.signal);
    const fit = await hub.fit(plan);
    const cache = await nearestFolder(hub.cache);
    const [cacheVolume, systemVolume] = await Promise.all([volume(cache), volume(parse(cache).root)]);
    return {
      can_download: fit.canDownload,
      warning: fit.isLow,
      message: fit.message,
      available_bytes: fit.availableBytes,
      required_bytes: fit.requiredBytes,
      cache_info: cacheVolume,
      system_info: systemVolume,
    };
  } catch (error) {
    log('warn', `whether ${name} can be downloaded could not be found out`, { error });
    const why = error instanceof Failure ? error.message : 'The space that it needs could not be found out.';
    return { can_download: true, warning: true, message: why, available_bytes: 0, required_bytes: 0, cache_info: none, system_info: none };
  }
}

/** The models of the hub cache: list, download, check, remove. */
export const modelEndpoints: Endpoint<ModelsContext>[] = [
  endpoint<ModelsContext>({
    method: 'GET',
    path: MODELS,
    id: 'model_list',
    access: 'users',
    summary: 'List the models on this machine',
    tag,
    query: 'core/models#ProviderQuery',
    response: 'core/models#ModelList',
    handler: async (context, { query }) => {
      requireUniversal(query.provider);
      return { json: { data: await list(context), built_in: builtInModels() } };
    },
  }),
  endpoint<ModelsContext>({
    method: 'POST',
    path: `${MODELS}/download`,
    id: 'model_download',
    access: 'admins',
    summary: 'Download a model, with its progress as events',
    tag,
    body: 'core/models#DownloadRequest',
    streams: true,
    handler: download,
  }),
  endpoint<ModelsContext>({
    method: 'POST',
    path: `${MODELS}/validate-download`,
    id: 'model_validate_download',
    access: 'users',
    summary: 'Tell whether a model fits on the disk',
    tag,
    body: 'core/models#ValidateRequest',
    response: 'core/models#ValidateReply',
    handler: async (context, request) => ({ json: await validate(context, request) }),
  }),
  endpoint<ModelsContext>({
    method: 'GET',
    path: `${MODELS}/{model_id+}/quantizations`,
    names: { model_id: 'common#RepositoryName' },
    id: 'model_quantizations',
    access: 'users',
    summary: 'List the quantisations in which a model can be had',
    tag,
    response: 'core/models#QuantizationList',
    handler: async ({ hub }, { params, signal }) => ({ json: { options: await quantizations(hub, params.model_id!, signal) } }),
  }),
  endpoint<ModelsContext>({
    method: 'DELETE',
    path: `${MODELS}/{model_id+}`,
    names: { model_id: 'common#RepositoryName' },
    id: 'model_delete',
    access: 'admins',
    summary: 'Remove a model from the cache, or a name that was made for one',
    tag,
    query: 'core/models#ProviderQuery',
    response: 'core/models#ModelDeleted',
    handler: async (context, { params, query }) => {
      requireUniversal(query.provider);
      const name = params.model_id!;
      // A name that a client made goes alone; what it is made of stays.
      if (await context.named?.remove(name)) return { json: { model_name: name, revisions_deleted: 0, size_freed: 0, path: '' } };
      requireRemovable(name);
      const removal = await context.hub.remove(name, () => context.models.keys(), placesOf(context).folder);
      return {
        json: { model_name: removal.id, revisions_deleted: removal.revisions, size_freed: removal.freedBytes, path: removal.path },
      };
    },
  }),
];

async function quantizations(hub: Hub, id: string, signal: AbortSignal): Promise<object[]> {
  const options = await hub.quantisations(id, signal);
  return options.map(({ filename, quantization, sizeBytes }) => ({
    filename,
    quantization,
    size_bytes: sizeBytes,
    size_human: humanSize(sizeBytes),
  }));
}
