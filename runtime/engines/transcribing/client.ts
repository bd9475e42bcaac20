import type { Circuit } from '../../hosts/circuit.js';
import { HostClient } from '../../hosts/client.js';
import { defaultThreads } from '../../hosts/memory.js';
import type { EngineStatus } from '../contracts/loaded.js';
import type { Heard, Stretch, Transcriber } from '../contracts/transcribing.js';
import type { TranscriberOpenBody, TranscriberOpened } from './wire.js';

const ENGINE = new URL('./entry.js', import.meta.url);
/** Half a minute of speech may take a large model minutes on a small machine; a host that takes longer is stuck. */
const HEAR_LIMIT_MS = 15 * 60_000;

/** A Whisper model on disk, and how it is called. */
export interface WhisperFiles extends Pick<TranscriberOpenBody, 'path' | 'form' | 'converted'> {
  readonly name: string;
  readonly notes: readonly string[];
}

/** A Whisper model in its host process, from the daemon's side. */
export class WhisperClient implements Transcriber {
  readonly #client: HostClient<TranscriberOpened>;
  readonly status: EngineStatus;
  readonly multilingual: boolean;

  private constructor(client: HostClient<TranscriberOpened>, { multilingual }: TranscriberOpened, status: EngineStatus) {
    this.#client = client;
    this.multilingual = multilingual;
    this.status = status;
  }

  /** Starts a host and loads the model in it. Throws `invalid` for a file that cannot be used, `unavailable` when `stop` is aborted meanwhile. */
  static async load({ name, notes, ...files }: WhisperFiles, circuit: Circuit, stop: AbortSignal): Promise<WhisperClient> {
    const forceCpu = /^(1|true|yes)$/i.test(process.env.GGUF_FORCE_CPU ?? '');
    const body: TranscriberOpenBody = { ...files, threads: defaultThreads(), gpu: !forceCpu };
    const parts = { name: `model ${name}`, engine: ENGINE, circuit, body, callLimitMs: HEAR_LIMIT_MS, atOnce: 1 };
    const { client, opened } = await HostClient.open<TranscriberOpened>(parts, stop);
    const { available, used } = opened;
    const why = used.includes('CPU') ? (forceCpu ? 'the CPU was asked for' : 'no GPU was found') : null;
    const devices = { requested: forceCpu ? 'cpu' : 'auto', available, used, why };
    return new WhisperClient(client, opened, { devices, options: { n_threads: body.threads }, notes });
  }

  get pid(): number | undefined {
    return this.#client.pid;
  }

  hear(stretch: Stretch, signal: AbortSignal): Promise<Heard> {
    return this.#client.call<Heard>('hear', stretch, signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
