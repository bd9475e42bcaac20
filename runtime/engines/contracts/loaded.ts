import type { HostClient } from '../../hosts/client.js';

/** How an engine runs, for `/health`. */
export interface EngineStatus {
  readonly devices: {
    readonly requested: string;
    readonly available: readonly string[];
    readonly used: readonly string[];
    readonly why: string | null;
  };
  /** Loading options as they are in effect. */
  readonly options?: Readonly<Record<string, number | boolean | string>>;
  /** What the caller should know of the loading, such as a capped length. */
  readonly notes: readonly string[];
}

/** An engine with its weights in memory, mostly in a process of its own, from the daemon's side. */
export interface LoadedEngine {
  /** Process id of its present host; undefined without one. */
  readonly pid: number | undefined;
  readonly status: EngineStatus;
  /** What its scheduler counts, where it has one. */
  stats?(): Promise<Record<string, number>>;
  /** Ends it; resolves when its memory is back. */
  close(): Promise<void>;
}

/** Names of devices as /health tells them: ggml writes the processor as CPU, everything else as cpu. */
export const deviceNames = (names: readonly string[]): string[] => names.map((name) => (name === 'CPU' ? 'cpu' : name));

/** A loaded engine in a host process that answers one question after the other; each kind adds its questions. */
export abstract class AskedEngine implements LoadedEngine {
  protected readonly client: Pick<HostClient<unknown>, 'pid' | 'call' | 'close'>;
  readonly status: EngineStatus;

  protected constructor(client: AskedEngine['client'], status: EngineStatus) {
    this.client = client;
    this.status = status;
  }

  get pid(): number | undefined {
    return this.client.pid;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Whether the operator keeps native models off accelerators, by `GGUF_FORCE_CPU`. */
export const forcesCpu = (): boolean => /^(1|true|yes)$/i.test(process.env.GGUF_FORCE_CPU ?? '');
