import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import { HostClient } from '../../hosts/client.js';
import { defaultThreads } from '../../hosts/memory.js';
import { AskedEngine, type EngineStatus, forcesCpu } from '../contracts/loaded.js';
import type { Heard, Stretch, Transcriber } from '../contracts/transcribing.js';

/** Asks a fresh host to load a Whisper model. */
export interface TranscriberOpenBody {
  /** A ggml file, or a folder with a CTranslate2 model. */
  readonly path: string;
  readonly form: 'ggml' | 'ctranslate2';
  /** Where files that were made of CTranslate2 models are kept. */
  readonly converted: string;
  readonly threads: number;
  readonly gpu: boolean;
}

/** Asks a fresh host to load a model for sherpa-onnx. */
export interface SherpaOpenBody {
  /** Absolute. */
  readonly folder: string;
  readonly threads: number;
}

/** What a loaded model is. */
export interface TranscriberOpened {
  readonly multilingual: boolean;
  readonly available: string[];
  readonly used: string[];
}

const WHISPER = new URL('./whisper-entry.js', import.meta.url);
const SHERPA = new URL('./sherpa-entry.js', import.meta.url);
/** Half a minute of speech may take a large model minutes on a small machine; a host that takes longer is stuck. */
const HEAR_LIMIT_MS = 15 * 60_000;

/** A Whisper model on disk, and how it is called. */
interface WhisperFiles extends Pick<TranscriberOpenBody, 'path' | 'form' | 'converted'> {
  readonly name: string;
  readonly notes: readonly string[];
}

/** A folder with a model for sherpa-onnx, and how it is called. */
interface SherpaFiles extends Pick<SherpaOpenBody, 'folder'> {
  readonly name: string;
  readonly notes: readonly string[];
}

/** A model that writes down speech in its host process, from the daemon's side. */
export class TranscriberClient extends AskedEngine implements Transcriber {
  readonly multilingual: boolean;

  private constructor(client: HostClient<TranscriberOpened>, { multilingual }: TranscriberOpened, status: EngineStatus) {
    super(client, status);
    this.multilingual = multilingual;
  }

  /** Starts a host and loads a Whisper model in it. Throws `invalid` for a file that cannot be used, `unavailable` when `stop` is aborted meanwhile. */
  static async whisper({ name, notes, ...files }: WhisperFiles, circuit: CircuitBreaker, stop: AbortSignal): Promise<TranscriberClient> {
    const forceCpu = forcesCpu();
    const body: TranscriberOpenBody = { ...files, threads: defaultThreads(), gpu: !forceCpu };
    const parts = { name: `model ${name}`, engine: WHISPER, circuit, body, callLimitMs: HEAR_LIMIT_MS, atOnce: 1 };
    const { client, opened } = await HostClient.open<TranscriberOpened>(parts, stop);
    const { available, used } = opened;
    const why = used.includes('cpu') ? (forceCpu ? 'the CPU was asked for' : 'no GPU was found') : null;
    const devices = { requested: forceCpu ? 'cpu' : 'auto', available, used, why };
    return new TranscriberClient(client, opened, { devices, options: { n_threads: body.threads }, notes });
  }

  /** The same of a model for sherpa-onnx; `unavailable` also where that is not installed. */
  static async sherpa({ name, notes, folder }: SherpaFiles, circuit: CircuitBreaker, stop: AbortSignal): Promise<TranscriberClient> {
    const body: SherpaOpenBody = { folder, threads: defaultThreads() };
    const parts = { name: `model ${name}`, engine: SHERPA, circuit, body, callLimitMs: HEAR_LIMIT_MS, atOnce: 1 };
    const { client, opened } = await HostClient.open<TranscriberOpened>(parts, stop);
    const devices = { requested: 'cpu', available: opened.available, used: opened.used, why: null };
    return new TranscriberClient(client, opened, { devices, options: { n_threads: body.threads }, notes });
  }

  hear(stretch: Stretch, signal: AbortSignal): Promise<Heard> {
    return this.client.call<Heard>('hear', stretch, signal);
  }
}
