import { Failure } from '../../../schemas/errors.js';
import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import { defaultThreads } from '../../hosts/memory.js';
import { Supervisor } from '../../hosts/supervisor.js';
import type { DiffusionInfo, DiffusionModel, ImageJob, ImageProgress } from '../contracts/images.js';
import type { EngineStatus, LoadedEngine } from '../contracts/loaded.js';
import type { ProviderFacts } from '../onnx/contract.js';

/** Asks a fresh host to open a pipeline. */
export interface OpenBody {
  /** As the caller named it, and the format of its graphs; null without a wish. */
  readonly id: string;
  readonly quantisation: string | null;
  readonly folder: string;
  readonly threads: number;
  readonly provider: string;
}

/** What an opened pipeline is. */
export interface OpenedPipeline {
  readonly scale: number;
  readonly scheduler: string;
  readonly devices: ProviderFacts;
}

/** Asks for images under an id of the caller's choice. */
export interface GenerateBody {
  readonly id: number;
  readonly job: ImageJob;
}

/** News of a job that runs. */
export interface ProgressEvent extends ImageProgress {
  readonly id: number;
}

const ENGINE = new URL('./entry.js', import.meta.url);
/** Jobs that one model may have, the running one included. */
const JOB_LIMIT = 16;
/** A step of a large network may keep its process from answering for minutes. */
const PING_INTERVAL_MS = 60_000;

/** What `DiffusionClient.load` needs. */
interface DiffusionLoad {
  readonly name: string;
  /** The name without the format, and the format of its graphs; null without a wish. */
  readonly id: string;
  readonly quantisation: string | null;
  readonly folder: string;
  /** `auto`, `cpu`, or an execution provider's name. */
  readonly device: string;
  readonly notes: readonly string[];
  readonly circuit: CircuitBreaker;
}

/** A diffusion pipeline in its host process, from the daemon's side. */
export class DiffusionClient implements DiffusionModel, LoadedEngine {
  readonly #supervisor: Supervisor<OpenedPipeline>;
  readonly #progress = new Map<number, (progress: ImageProgress) => void>();
  #info: DiffusionInfo | undefined;
  #nextId = 1;

  private constructor({ name, id, quantisation, folder, device, circuit }: DiffusionLoad) {
    const body: OpenBody = { id, quantisation, folder, threads: defaultThreads(), provider: device };
    this.#supervisor = new Supervisor<OpenedPipeline>({
      name: `image model ${name}`,
      engine: ENGINE,
      circuit,
      pingIntervalMs: PING_INTERVAL_MS,
      open: (host) => host.call<OpenedPipeline>('open', body),
      onEvent: (_host, event) => {
        const { id, ...progress } = event as ProgressEvent;
        this.#progress.get(id)?.(progress);
      },
    });
  }

  /** Starts a host and opens the pipeline in it. Throws what opening throws, or 'unavailable' when the signal is aborted meanwhile; the process is gone then. */
  static async load(load: DiffusionLoad, signal: AbortSignal): Promise<DiffusionClient> {
    const client = new DiffusionClient(load);
    const { scale, scheduler, devices } = await client.#supervisor.first(signal);
    const shown = { ...devices, available: [...devices.available], used: [...devices.used] };
    client.#info = { name: load.name, scale, scheduler, devices: shown, notes: load.notes };
    return client;
  }

  get info(): DiffusionInfo {
    return this.#info!;
  }

  get status(): EngineStatus {
    const { devices, notes, scheduler } = this.info;
    return { devices, notes, options: { scheduler } };
  }

  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  async generate(job: ImageJob, onProgress: (progress: ImageProgress) => void, signal: AbortSignal): Promise<Uint8Array[]> {
    signal.throwIfAborted();
    if (this.#progress.size >= JOB_LIMIT)
      throw new Failure('busy', `${JOB_LIMIT} image requests wait for ${this.info.name}; try again later.`, { retryAfterS: 10 });
    const id = this.#nextId;
    this.#nextId += 1;
    this.#progress.set(id, onProgress);
    try {
      const { host } = await this.#supervisor.ready(signal);
      return await host.call<Uint8Array[]>('generate', { id, job } satisfies GenerateBody, signal);
    } finally {
      this.#progress.delete(id);
    }
  }

  /** Ends the host; resolves when its memory is back. */
  close(): Promise<void> {
    return this.#supervisor.close();
  }
}
