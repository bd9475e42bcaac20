import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FIRST_MODEL } from '../models/built-in.js';
import type { ModelConfig } from '../schemas/generated/config/project.js';
import { withoutAddressSecrets } from '../schemas/secrets.js';
import { Chat } from './chat/chat.js';
import type { CompletionSource } from './completions/request.js';
import { Hub } from './hub/hub.js';
import { Images } from './images/images.js';
import { sweepPending } from './library/datasets/pending.js';
import { sweepDrafts } from './library/ingest/stages.js';
import { Models } from './models/models.js';
import { Outbound } from './net/outbound.js';
import { openAnomaly } from './open-anomaly.js';
import { openClassifiers } from './open-classifiers.js';
import { openColumns } from './open-columns.js';
import { openEncoders } from './open-encoders.js';
import { openKvCache } from './open-kv-cache.js';
import { openRetrieval } from './open-retrieval.js';
import { openVision } from './open-vision.js';
import { Projects } from './projects/projects.js';
import type { Provider, ProviderHealth } from './providers/contract.js';
import { createProviders, providerOf } from './providers/index.js';
import type { StartRunner } from './providers/runners.js';
import { createUniversalProvider } from './providers/universal.js';
import type { HealthCheck, Runtime } from './runtime.js';
import { LOW_DISK_BYTES } from './store/room.js';
import { openStore, type Store } from './store/store.js';
import type { Tasks } from './tasks/tasks.js';

/** What a runtime is opened with. */
export interface RuntimeParts {
  readonly version: string;
  readonly dataDir: string;
  /** Remote universal runtimes used instead of the one in this process. */
  readonly runtimeUrls: readonly string[];
  /** The port of our own universal runtime: a `base_url` that names it stays in process. */
  readonly runtimePort: number;
  /** Bytes of all files of one dataset. */
  readonly datasetQuotaBytes: number;
  /** DELETE of a project removes it unless the request says otherwise. */
  readonly deleteProjects?: boolean;
  /** Language models must keep the chat template that they had first. */
  readonly pinTemplates?: boolean;
  /** Opens a listener of our own for `local_accel`. */
  readonly startRunner: StartRunner;
}

async function storageHealth(store: Store, dataDir: string): Promise<ProviderHealth> {
  const health = store.health();
  if (health.status !== 'healthy') return health;
  const { bavail, bsize } = await statfs(dataDir);
  const freeMb = Math.round((bavail * bsize) / 1024 ** 2);
  if (bavail * bsize < LOW_DISK_BYTES) return { status: 'degraded', message: `only ${freeMb} MB are free on the volume of ${dataDir}` };
  return { status: 'healthy', message: `${health.message}, ${freeMb} MB free` };
}

/** Ingestion works where its queue can be written; its databases are looked at one by one, under `rag/health`. */
function ragHealth(store: Store, tasks: Tasks): ProviderHealth {
  const { status, message } = store.health();
  if (status !== 'healthy') return { status, message };
  return { status: 'healthy', message: `documents can be ingested; tasks under way: ${tasks.openCount}` };
}

/** Completions whose code is loaded at the first of them, so that a start does not wait for it. */
function completionsOn(models: Models): CompletionSource {
  let loading: Promise<CompletionSource> | undefined;
  return {
    open: async (request, signal) => {
      loading ??= import('./completions/completions.js').then(({ Completions }) => new Completions({ models }));
      return (await loading).open(request, signal);
    },
  };
}

/** Opens the store, the engines and everything above them; whatever was opened is closed again when a later part fails. */
export async function openRuntime(parts: RuntimeParts): Promise<Runtime> {
  const {
    version,
    dataDir,
    runtimeUrls,
    runtimePort,
    datasetQuotaBytes,
    pinTemplates = false,
    deleteProjects = false,
    startRunner,
  } = parts;
  const store = await openStore(dataDir);
  const projectsRoot = join(dataDir, 'projects');
  await sweepPending(projectsRoot);
  await sweepDrafts(projectsRoot);
  const models = new Models({ dataDir, pinTemplates });
  const outbound = new Outbound();
  const hub = new Hub(outbound);
  const { scans, ...looking } = openVision({ dataDir, models, outbound, runtimeUrls });
  const { close: closeAnomaly, ...detecting } = openAnomaly({ dataDir, outbound, runtimeUrls });
  const { close: closeColumns, ...tables } = openColumns({ store, outbound, runtimeUrls });
  const completions = completionsOn(models);
  const { kvCache, close: closeKvCache } = openKvCache(dataDir);
  const { encoders, coreEncoders, ...forRetrieval } = openEncoders({ models, outbound, runtimeUrls, runtimePort });
  const { close: closeClassifiers, ...classifying } = openClassifiers({ dataDir, encoders, outbound, runtimeUrls });
  const projects = new Projects({ dataDir, purges: deleteProjects });
  const providers = createProviders({ outbound, universal: createUniversalProvider(completions), runtimeUrls, runtimePort, startRunner });
  const provider = (model: ModelConfig): Provider => providers[providerOf(model)];
  const { close: closeRetrieval, ...documents } = openRetrieval({
    store,
    projects,
    outbound,
    runtimePort,
    datasetQuotaBytes,
    encoders: forRetrieval,
    scans,
    provider,
  });
  const chat = new Chat({ projects, providers, providerOf, store, retrieval: documents.retrieval });
  const builtin = `built in: ${FIRST_MODEL.name} (${FIRST_MODEL.description})`;
  const checks: HealthCheck[] = [
    { name: 'server', run: () => ({ status: 'healthy', message: `quern ${version} answers` }) },
    { name: 'storage', run: () => storageHealth(store, dataDir) },
    { name: 'rag-service', run: () => ragHealth(store, documents.tasks) },
    { name: 'built-in-model', run: () => ({ status: 'healthy', message: builtin }) },
    {
      name: 'universal-runtime',
      run: () =>
        runtimeUrls.length > 0
          ? { status: 'healthy', message: `remote: ${runtimeUrls.map((url) => withoutAddressSecrets(url)).join(', ')}` }
          : models.health(),
    },
  ];
  return {
    version,
    dataDir,
    transport: '',
    checks,
    projects,
    chat,
    completions,
    models,
    hub,
    kvCache,
    images: new Images(models),
    encoders,
    coreEncoders,
    ...looking,
    ...detecting,
    ...tables,
    ...classifying,
    ...documents,
    close: async () => {
      await closeRetrieval();
      await chat.close();
      await hub.close();
      await looking.files.close();
      await closeKvCache();
      await closeAnomaly();
      await closeColumns();
      await closeClassifiers();
      await models.close();
      await outbound.close();
      await store.close();
    },
  };
}
