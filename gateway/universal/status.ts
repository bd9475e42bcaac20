import { builtInModels } from '../../models/built-in.js';
import type { NamedModels } from '../../runtime/completions/modelfiles/named-models.js';
import type { EngineStatus } from '../../runtime/engines/contracts/loaded.js';
import type { ModelFetches } from '../../runtime/models/fetch/on-use.js';
import type { Models } from '../../runtime/models/residency/models.js';
import type { InMemory } from '../../runtime/services/services.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import type { RunningFetches } from '../../schemas/generated/core/models.js';
import type { Health } from '../../schemas/generated/universal/health.js';
import type { Capabilities, KnownModel, ModelList } from '../../schemas/generated/universal/models.js';

/** What the status endpoints look at. */
export interface StatusContext {
  readonly version: string;
  readonly models: Models;
  /** The models that clients made of others. */
  readonly named?: Pick<NamedModels, 'baseOf'>;
  /** Absent where nothing is fetched. */
  readonly fetches?: Pick<ModelFetches, 'running'>;
  /** What is in memory beside models. */
  inMemory?(): readonly InMemory[];
}

/** What the wire calls this runtime. */
const OWNER = 'transformers-runtime';
const PLATFORM_NAMES: Partial<Record<NodeJS.Platform, string>> = { linux: 'Linux', darwin: 'Darwin', win32: 'Windows' };

/** The device that most of the loaded models run on, in the wire's words. */
function deviceName(used: readonly string[]): string {
  const names = used.join(' ').toLowerCase();
  if (/cuda/.test(names)) return 'cuda';
  if (/metal|mps/.test(names)) return 'mps';
  return /vulkan/.test(names) ? 'vulkan' : 'cpu';
}

function copyOf({ requested, available, used, why }: EngineStatus['devices']) {
  return { requested, available: [...available], used: [...used], why };
}

/** Everything in memory: models that run in hosts, and what services keep. */
function inMemory(runtime: StatusContext): InMemory[] {
  return [...runtime.models.loaded(), ...(runtime.inMemory?.() ?? [])];
}

/** The models on their way from the hub, as the lists of both APIs show them. */
export function renderFetches(fetches: Pick<ModelFetches, 'running'>): RunningFetches {
  const { onUse, followed } = fetches.running();
  const none = { task_id: null, bytes: null, total_bytes: null, bytes_per_second: null, eta_seconds: null };
  return [
    ...onUse.map(({ model, id, bytes, totalBytes, bytesPerSecond, restS }) => ({
      model,
      task_id: id,
      bytes,
      total_bytes: totalBytes,
      bytes_per_second: bytesPerSecond,
      eta_seconds: restS,
    })),
    ...followed.map((model) => ({ model, ...none })),
  ];
}

function health(runtime: StatusContext): Health {
  const loaded = runtime.models.loaded();
  return {
    status: 'healthy',
    device: {
      device: deviceName(loaded.flatMap((entry) => entry.status.devices.used)),
      platform: PLATFORM_NAMES[process.platform] ?? process.platform,
      node_version: process.version,
      addon_version: runtime.version,
    },
    loaded_models: inMemory(runtime).map((entry) => entry.key),
    loading_models: runtime.models.loading(),
    fetching_models: runtime.fetches ? renderFetches(runtime.fetches) : [],
    timestamp: new Date().toISOString().replace('Z', ''),
    pid: process.pid,
    builtin_models: builtInModels(),
    engines: loaded.map((entry) => ({
      model: entry.key,
      type: entry.type,
      ...copyOf(entry.status.devices),
      options: { ...entry.status.options },
      notes: [...entry.status.notes],
    })),
  };
}

/** What those may know who do not run the machine: the rest tells of it and of others. What comes with the program is for who has signed in. */
function healthWithoutDetails(runtime: StatusContext, isAnonymous: boolean): Health {
  const { status, device, timestamp, builtin_models } = health(runtime);
  return {
    status,
    device: { device: device.device, platform: device.platform },
    loaded_models: [],
    timestamp,
    pid: 0,
    ...(isAnonymous ? {} : { builtin_models }),
    accounts: true,
  };
}

/** Each name once, with the copies of it that are in memory. */
function models(runtime: StatusContext): ModelList {
  const created = Math.floor(Date.now() / 1000);
  const byName = new Map<string, ModelList['data'][number]>();
  for (const { name, type, key } of inMemory(runtime)) {
    const copy = { type, key };
    const known = byName.get(name);
    if (known) known.copies.push(copy);
    else byName.set(name, { id: name, object: 'model', created, owned_by: OWNER, ...copy, copies: [copy] });
  }
  return { object: 'list', data: [...byName.values()] };
}

/** A model on this machine, in memory or not. Throws `not_found` where there is none. */
async function model({ models, named }: StatusContext, id: string): Promise<KnownModel> {
  await models.require(named?.baseOf(id) ?? id);
  return { id, object: 'model', created: Math.floor(Date.now() / 1000), owned_by: OWNER };
}

/** Health of the runtime, the models in memory, and what models can do. */
export const statusEndpoints: Endpoint<StatusContext>[] = [
  endpoint({
    method: 'GET',
    path: '/health',
    id: 'health',
    access: 'anyone',
    summary: 'State of the runtime and its engines',
    tag: 'system',
    response: 'universal/health#Health',
    handler: (runtime, { visitor }) => ({
      json:
        visitor && !visitor.isAdmin
          ? healthWithoutDetails(runtime, visitor.isAnonymous)
          : { ...health(runtime), ...(visitor ? { accounts: true } : {}) },
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/models',
    id: 'list_models',
    access: 'users',
    summary: 'Models in memory',
    tag: 'models',
    response: 'universal/models#ModelList',
    errorShape: 'by-client',
    handler: (runtime) => ({ json: models(runtime) }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/models/{model_id+}',
    names: { model_id: 'common#ModelName' },
    id: 'get_model',
    access: 'users',
    summary: 'A model on this machine',
    tag: 'models',
    response: 'universal/models#KnownModel',
    errorShape: 'openai',
    handler: async (runtime, { params }) => ({ json: await model(runtime, params.model_id!) }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/models/{model_id+}/capabilities',
    names: { model_id: 'common#ModelName' },
    id: 'model_capabilities',
    access: 'users',
    summary: 'What a model on this machine can do',
    tag: 'models',
    response: 'universal/models#Capabilities',
    handler: async ({ models, named }, { params }) => {
      const { capabilitiesOf } = await import('../../runtime/completions/capabilities.js');
      return {
        json: { capabilities: await capabilitiesOf(named?.baseOf(params.model_id!) ?? params.model_id!, models) } satisfies Capabilities,
      };
    },
  }),
];
