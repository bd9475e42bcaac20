import { VOICE_ACTIVITY_GRAPH } from '../../../models/built-in.js';
import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import { HostClient } from '../../hosts/client.js';

/** Samples that the detector judges at a time: 32 ms. */
export const SILERO_FRAME = 512;
/** Hz of its samples. */
export const SILERO_RATE = 16_000;

const ENGINE = new URL('./entry.js', import.meta.url);
/** A call brings at most some seconds of sound, each of which takes 15 ms. */
const CALL_LIMIT_MS = 10_000;
/** Graphs run one after the other; while one does, the others' sound is on its way. */
const AT_ONCE = 64;

/** What its host is asked: whole frames of one stream. */
export interface SileroCall {
  readonly stream: number;
  readonly samples: Float32Array;
}

/** Silero's detector of speech, version 6, in its host process: one for all streams. */
export class SileroClient {
  readonly #client: HostClient<{ readonly devices: readonly string[] }>;
  #streams = 0;

  private constructor(client: HostClient<{ readonly devices: readonly string[] }>) {
    this.#client = client;
  }

  /** Starts the host and opens the graph, which comes with this program: 0.2 s. Throws what opening throws. */
  static async load(circuit: CircuitBreaker, stop: AbortSignal): Promise<SileroClient> {
    const body = { graph: VOICE_ACTIVITY_GRAPH };
    const parts = { name: 'detector of speech', engine: ENGINE, circuit, body, callLimitMs: CALL_LIMIT_MS, atOnce: AT_ONCE };
    const { client } = await HostClient.open<{ readonly devices: readonly string[] }>(parts, stop);
    return new SileroClient(client);
  }

  get pid(): number | undefined {
    return this.#client.pid;
  }

  /** A number for a new stream. */
  begin(): number {
    this.#streams += 1;
    return this.#streams;
  }

  /** How likely each frame of a stream is speech, 0 to 1. `samples` are whole frames, in order. */
  hear(call: SileroCall, signal: AbortSignal): Promise<Float32Array> {
    return this.#client.call<Float32Array>('hear', call, signal);
  }

  /** Frees what is known of a stream. */
  forget(stream: number): void {
    // A host that is gone has nothing to forget.
    this.#client.call('forget', { stream, samples: new Float32Array(0) }, new AbortController().signal).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
