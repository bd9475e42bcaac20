import { loadCore } from '../../native/loader.js';
import { log } from '../base/log.js';
import { SileroClient } from '../engines/voice-activity/client.js';
import { CircuitBreaker } from '../hosts/circuit-breaker.js';

/** Samples of a frame at 16 kHz: 32 ms. */
export const VOICE_FRAME = 512;

/** Tells speech from other sound in one stream. */
export interface VoiceActivity {
  /** What judges, for logs. */
  readonly detector: 'silero' | 'energy';
  /** How likely each frame is speech, 0 to 1; 0.5 and more is taken for speech. `samples` are whole frames of `VOICE_FRAME` at 16 kHz, in order. */
  hear(samples: Float32Array): Promise<Float32Array>;
  /** The next sound has nothing to do with the last. */
  reset(): void;
  close(): void;
}

/** Effective value of the quietest speech. */
const THRESHOLD = 0.015;

/** Tells speech by its loudness above the noise of the room. */
export function energyActivity(): VoiceActivity {
  const native = loadCore().openVoiceActivity(VOICE_FRAME, THRESHOLD);
  return {
    detector: 'energy',
    hear: async (samples) => native.push(samples),
    reset: () => native.reset(),
    close: () => {},
  };
}

/** The process ends when nobody has been listened to for so long. */
const IDLE_MS = 60_000;
/** While the process is away, loudness decides; so long after a failure it is tried again. */
const RETRY_MS = 10_000;

/** Detectors of speech for all who are listened to: Silero's in one process that starts with the first of them; loudness where that fails. */
export class VoiceDetectors {
  readonly #circuit = new CircuitBreaker('detector of speech');
  readonly #stop = new AbortController();
  #silero: Promise<SileroClient> | undefined;
  #open = 0;
  #idle: NodeJS.Timeout | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;

  /** A detector for one stream; it works from the first sound on. */
  open(): VoiceActivity {
    clearTimeout(this.#idle);
    this.#open += 1;
    return new Listener(
      () => this.#client(),
      (error) => this.#failed(error),
      () => this.#left(),
    );
  }

  /** Loads the detector, so that the first sound does not wait for it; it is kept for a while. Never rejects. */
  async warm(): Promise<void> {
    const activity = this.open();
    await activity.hear(new Float32Array(VOICE_FRAME));
    activity.close();
  }

  /** Ends the process. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#idle);
    await this.#end();
  }

  #client(): Promise<SileroClient> | undefined {
    if (this.#stop.signal.aborted || performance.now() - this.#failedMs < RETRY_MS) return undefined;
    this.#silero ??= SileroClient.load(this.#circuit, this.#stop.signal);
    return this.#silero;
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    log('warn', 'the detector of speech failed; loudness decides for a while', { error });
    this.#failedMs = performance.now();
    void this.#end();
  }

  #left(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
  }

  async #end(): Promise<void> {
    const silero = this.#silero;
    this.#silero = undefined;
    // One that could not be loaded has ended itself.
    await silero?.then(
      (client) => client.close(),
      () => undefined,
    );
  }
}

/** One stream: what the process says of it, or its loudness. */
class Listener implements VoiceActivity {
  readonly #client: () => Promise<SileroClient> | undefined;
  readonly #failed: (error: unknown) => void;
  readonly #left: () => void;
  readonly #energy = energyActivity();
  readonly #abort = new AbortController();
  /** The process that knows this stream, and by which number. */
  #known: { readonly client: SileroClient; readonly stream: number } | undefined;
  detector: 'silero' | 'energy' = 'silero';

  constructor(client: () => Promise<SileroClient> | undefined, failed: (error: unknown) => void, left: () => void) {
    this.#client = client;
    this.#failed = failed;
    this.#left = left;
  }

  async hear(samples: Float32Array): Promise<Float32Array> {
    // It follows the noise of the room even while it is not asked.
    const loud = await this.#energy.hear(samples);
    const loading = this.#client();
    if (loading) {
      try {
        const client = await loading;
        if (this.#known?.client !== client) this.#known = { client, stream: client.begin() };
        const heard = await client.hear({ stream: this.#known.stream, samples }, this.#abort.signal);
        this.detector = 'silero';
        return heard;
      } catch (error) {
        if (!this.#abort.signal.aborted) this.#failed(error);
      }
    }
    this.detector = 'energy';
    return loud;
  }

  reset(): void {
    this.#energy.reset();
    this.#known?.client.forget(this.#known.stream);
    this.#known = undefined;
  }

  close(): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    this.reset();
    this.#left();
  }
}
