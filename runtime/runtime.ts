import type { Chat } from './chat/chat.js';
import type { CompletionSource } from './completions/request.js';
import type { EncoderService } from './encoders/contract.js';
import type { Files } from './files/files.js';
import type { Hub } from './hub/hub.js';
import type { Images } from './images/images.js';
import type { KvCache } from './kv-cache/kv-cache.js';
import type { Databases } from './library/databases/databases.js';
import type { DatabaseInspection } from './library/databases/inspection.js';
import type { Preview } from './library/databases/preview.js';
import type { Datasets } from './library/datasets/datasets.js';
import type { AnomalyService } from './ml/anomaly/contract.js';
import type { BufferService } from './ml/buffers/contract.js';
import type { ClassifierService } from './ml/classifiers/contract.js';
import type { StreamService } from './ml/streams/contract.js';
import type { Models } from './models/models.js';
import type { Projects } from './projects/projects.js';
import type { ProviderHealth } from './providers/contract.js';
import type { Retrieval } from './rag/query/contract.js';
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
