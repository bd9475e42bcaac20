import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FIRST_MODEL } from '../models/built-in.js';
import type { ModelConfig } from '../schemas/generated/config/project.js';
import { withoutAddressSecrets } from '../schemas/secrets.js';
import { Chat } from './chat/chat.js';
import type { CompletionSource } from './completions/request.js';
import type { EncoderService } from './encoders/contract.js';
import type { Files } from './files/files.js';
import { Images } from './images/images.js';
import type { KvCache } from './kv-cache/kv-cache.js';
import type { Databases } from './library/databases/databases.js';
import type { DatabaseInspection } from './library/databases/inspection.js';
import type { Preview } from './library/databases/preview.js';
import type { Datasets } from './library/datasets/datasets.js';
import { sweepPending } from './library/datasets/pending.js';
import { sweepStages } from './library/ingest/stages.js';
import type { AnomalyService } from './ml/anomaly/contract.js';
import type { BufferService } from './ml/buffers/contract.js';
import type { ClassifierService } from './ml/classifiers/contract.js';
import type { StreamService } from './ml/streams/contract.js';
import { Hub } from './models/fetch/hub.js';
import { Models } from './models/residency/models.js';
import { Outbound } from './net/outbound.js';
import { Projects } from './projects/projects.js';
import type { Provider, ProviderHealth } from './providers/contract.js';
import { createProviders, providerOf } from './providers/index.js';
import type { StartRunner } from './providers/runners.js';
import { createUniversalProvider } from './providers/universal.js';
import type { Retrieval } from './rag/query/contract.js';
import { openAnomaly } from './services/anomaly.js';
import { openClassifiers } from './services/classifiers.js';
import { openColumns } from './services/columns.js';
import { openEncoders } from './services/encoders.js';
import { openKvCache } from './services/kv-cache.js';
import { openRetrieval } from './services/retrieval.js';
import { openVision } from './services/vision.js';
import { LOW_DISK_BYTES } from './store/room.js';
import { openStore, type Store } from './store/store.js';
import type { Tasks } from './tasks/tasks.js';
import type { VisionSource } from './vision/contract.js';

/** One component that `/health` looks at. */
export interface HealthCheck {
  readonly name: string;
  run(): (ProviderHealth & { details?: Record<string, unknown> }) | Promise<ProviderHealth & { details?: Record<string, unknown> }>;
}

/** What the gateway's handlers work on; made by `openRuntime`. */
export interface Runtime {
  readonly version: string;
  readonly dataDir: string;
  /** The HTTP engine that carries the requests, and why where it is not the first choice. */
  transport: string;
  readonly checks: readonly HealthCheck[];
  readonly projects: Projects;
  readonly chat: Chat;
  readonly completions: CompletionSource;
  readonly models: Models;
  readonly hub: Hub;
  /** Images by diffusion models. */
  readonly images: Images;
  /** KV states that outlive their models; opened at first use. */
  readonly kvCache: () => Promise<KvCache>;
  /** The encoders of this machine. */
  readonly encoders: EncoderService;
  /** The encoders that the core uses: the same, or those of the remote runtimes. */
  readonly coreEncoders: EncoderService;
  readonly files: Files;
  /** Looks at images in this process. */
  readonly vision: VisionSource;
  /** The same, or the runtimes that the core was told to use. */
  readonly coreVision: VisionSource;
  /** Batch anomaly detection of this machine. */
  readonly anomaly: AnomalyService;
  /** The same, or that of the remote runtimes. */
  readonly coreAnomaly: AnomalyService;
  /** Text classifiers of this machine. */
  readonly classifiers: ClassifierService;
  /** The same, or those of the remote runtimes. */
  readonly coreClassifiers: ClassifierService;
  /** Data buffers and streaming detectors of this machine; opened at first use. */
  readonly buffers: () => Promise<BufferService>;
  readonly streams: () => Promise<StreamService>;
  /** The same, or those of the remote runtimes. */
  readonly coreBuffers: () => Promise<BufferService>;
  readonly coreStreams: () => Promise<StreamService>;
  readonly datasets: Datasets;
  readonly tasks: Tasks;
  readonly databases: Databases;
  readonly inspection: DatabaseInspection;
  readonly preview: Preview;
  readonly retrieval: Retrieval;
  /** Ends all work and closes engines, then the store. */
  close(): Promise<void>;
}

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
  await sweepStages(projectsRoot);
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
  const providers = createProviders({
    outbound,
    universal: createUniversalProvider(completions, models),
    runtimeUrls,
    runtimePort,
    startRunner,
  });
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
