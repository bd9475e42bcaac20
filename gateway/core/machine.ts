import { readFile } from 'node:fs/promises';
import { builtInModels } from '../../models/built-in.js';
import type { NamedModels } from '../../runtime/completions/modelfiles/named-models.js';
import { availableMemory } from '../../runtime/hosts/memory.js';
import { lookAtMachine } from '../../runtime/machine/look.js';
import { machineFindings } from '../../runtime/machine/machine.js';
import { cachedModels } from '../../runtime/models/cache/list.js';
import type { Hub } from '../../runtime/models/fetch/hub.js';
import type { ModelFetches } from '../../runtime/models/fetch/on-use.js';
import { repositoriesOf } from '../../runtime/models/find/names.js';
import { modelPlaces } from '../../runtime/models/find/places.js';
import type { LoadedModel as Loaded, Models } from '../../runtime/models/residency/models.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { LoadedModel, LoadedModels, Suggestions, Unloaded, UnloadRequest } from '../../schemas/generated/core/models.js';
import type { Device } from '../../schemas/generated/core/system.js';
import { renderFetches } from '../universal/status.js';

/** What the endpoints about this machine and its memory look at. */
export interface MachineContext {
  readonly dataDir: string;
  readonly hub: Pick<Hub, 'cache'>;
  readonly models: Pick<Models, 'loaded' | 'loading' | 'unload'>;
  readonly named: Pick<NamedModels, 'baseOf'>;
  readonly fetches: Pick<ModelFetches, 'running'>;
}

const PAGE_BYTES = 4096;

async function device(): Promise<Device> {
  const { machine } = await lookAtMachine();
  const { processor, cores, features, memoryBytes, accelerators } = machine;
  return {
    processor,
    cores,
    features: [...features],
    memory_bytes: memoryBytes,
    free_memory_bytes: availableMemory(),
    accelerators: accelerators.map(({ kind, name, memoryBytes: own, isUsable, advice }) => ({
      kind,
      name,
      memory_bytes: own,
      usable: isUsable,
      advice,
    })),
    findings: machineFindings(machine),
  };
}

async function suggestions({ dataDir, hub }: MachineContext): Promise<Suggestions> {
  const [{ machine, suggestions }, here] = await Promise.all([lookAtMachine(), cachedModels({ ...modelPlaces(dataDir), hub: hub.cache })]);
  const isHere = (name: string): boolean => {
    const [repository = '', quantisation] = name.split(':');
    const ids = new Set([repository, ...repositoriesOf(repository)].map((id) => id.toLowerCase()));
    return here.some(
      ({ id, quantisations }) => ids.has(id.toLowerCase()) && (quantisation === undefined || quantisations.includes(quantisation)),
    );
  };
  return {
    processor: machine.processor,
    memory_bytes: machine.memoryBytes,
    models: suggestions.map(({ task, name, bytes, expected, isBest }) => ({
      task,
      name,
      bytes,
      tokens_per_s: expected,
      best: isBest,
      here: isHere(name),
    })),
  };
}

/** The memory of a process that lies in RAM; null where the system does not tell. */
async function residentBytes(pid: number | undefined): Promise<number | null> {
  const text = pid === undefined ? '' : await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  const pages = Number(text.split(' ')[1]);
  return text === '' || !Number.isFinite(pages) ? null : pages * PAGE_BYTES;
}

async function loadedModel({ name, type, key, uses, staysMs, pid, status: { devices } }: Loaded): Promise<LoadedModel> {
  return {
    name,
    type,
    key,
    devices: [...devices.used],
    why: devices.why,
    uses,
    stays_s: Number.isFinite(staysMs) ? Math.round(staysMs / 1000) : null,
    memory_bytes: await residentBytes(pid),
  };
}

async function loadedModels({ models, fetches }: MachineContext): Promise<LoadedModels> {
  return {
    models: await Promise.all(models.loaded().map(loadedModel)),
    loading: models.loading(),
    fetching: renderFetches(fetches),
    built_in: builtInModels(),
  };
}

async function unload({ models, named }: MachineContext, { model }: UnloadRequest): Promise<Unloaded> {
  // A model that was made of another is in memory under that one's name.
  const unloaded = (await models.unload(model)) || (await models.unload(named.baseOf(model)));
  if (unloaded === 0)
    throw new Failure(
      'not_found',
      `No model ${JSON.stringify(model)} is in memory; "quern ps", or GET /v1/models/loaded, lists those that are.`,
    );
  return { model, unloaded };
}

/** What this machine is, which models suit it, and which are in its memory. */
export const machineEndpoints: Endpoint<MachineContext>[] = [
  endpoint<MachineContext>({
    method: 'GET',
    path: '/v1/system/device',
    id: 'device',
    access: 'admins',
    summary: 'Processor, memory and devices, with advice',
    tag: 'system',
    response: 'core/system#Device',
    handler: async () => ({ json: await device() }),
  }),
  endpoint<MachineContext>({
    method: 'GET',
    path: '/v1/models/suggestions',
    id: 'model_suggestions',
    access: 'users',
    summary: 'List models that suit this machine',
    tag: 'models',
    response: 'core/models#Suggestions',
    handler: async (context) => ({ json: await suggestions(context) }),
  }),
  endpoint<MachineContext>({
    method: 'GET',
    path: '/v1/models/loaded',
    id: 'models_loaded',
    access: 'admins',
    summary: 'List the models in memory',
    tag: 'models',
    response: 'core/models#LoadedModels',
    handler: async (context) => ({ json: await loadedModels(context) }),
  }),
  endpoint<MachineContext>({
    method: 'POST',
    path: '/v1/models/unload',
    id: 'model_unload',
    access: 'admins',
    summary: 'Unload a model',
    tag: 'models',
    body: 'core/models#UnloadRequest',
    response: 'core/models#Unloaded',
    handler: async (context, request) => ({ json: await unload(context, request.body as UnloadRequest) }),
  }),
];
