import { Failure } from '../../../../schemas/errors.js';
import type { CircuitBreaker } from '../../../hosts/circuit-breaker.js';
import { defaultThreads } from '../../../hosts/memory.js';
import { Supervisor } from '../../../hosts/supervisor.js';
import type {
  EncoderCall,
  EncoderFiles,
  EncoderInfo,
  EncoderModel,
  EncoderOptions,
  EncoderTask,
  EncoderUrgency,
  Entity,
  Pooling,
} from '../../contracts/encoder.js';
import type { EngineStatus, LoadedEngine } from '../../contracts/loaded.js';
import type { ProviderFacts } from '../../onnx/contract.js';
import { askInSlices } from '../request-slices.js';

/** Asks a fresh host to load an encoder. */
export interface OpenBody {
  /** As the caller named the model, for messages. */
  readonly name: string;
  readonly task: EncoderTask;
  readonly model: string;
  readonly folder: string;
  readonly fallback: { readonly pooling?: Pooling; readonly maxLength?: number };
  readonly threads: number;
  readonly provider: string;
  /** `onnxruntime`: never the native pass. */
  readonly engine: 'auto' | 'native' | 'onnxruntime';
}

/** What a loaded encoder is. */
export interface OpenedEncoder
  extends Pick<EncoderInfo, 'architecture' | 'sizeBytes' | 'dimensions' | 'maxLength' | 'pooling' | 'labels' | 'problem' | 'notes'> {
  readonly providers: ProviderFacts;
  /** What runs it. */
  readonly engine: NonNullable<EncoderInfo['engine']>;
}

/** One slice of a call. `query` makes pairs with each text, `pairs` with the text of the same index. */
export interface CallBody {
  readonly texts: readonly string[];
  readonly query?: string;
  readonly pairs?: readonly string[];
  readonly urgency: EncoderUrgency;
  readonly maxLength?: number;
  /** As in `EncoderCall`. */
  readonly whole: boolean;
}

/** Answers of a slice as one array, `width` values per text, and each text's tokens. */
export interface NumbersReply {
  readonly values: Float32Array;
  readonly width: number;
  readonly tokens: readonly number[];
}

/** Entities of a slice. */
export interface EntitiesReply {
  readonly entities: Entity[][];
  readonly tokens: readonly number[];
}

const ENGINE = new URL('./entry.js', import.meta.url);
/** Names of devices that stand for one provider of ONNX Runtime. */
const PROVIDERS: Readonly<Record<string, string>> = { mps: 'coreml', gpu: 'auto' };

/** What `EncoderClient.load` needs. */
interface EncoderLoad {
  readonly task: EncoderTask;
  readonly files: EncoderFiles;
  readonly options: EncoderOptions;
  readonly circuit: CircuitBreaker;
}

/** An ONNX encoder in its host process, from the daemon's side. */
export class EncoderClient implements EncoderModel, LoadedEngine {
  readonly #supervisor: Supervisor<OpenedEncoder>;
  readonly #load: EncoderLoad;
  #info: EncoderInfo | undefined;

  private constructor(load: EncoderLoad) {
    this.#load = load;
    const { task, files, options } = load;
    const device = options.device ?? 'auto';
    const body: OpenBody = {
      name: files.name,
      task,
      model: files.model,
      folder: files.folder,
      fallback: { ...(files.pooling ? { pooling: files.pooling } : {}), ...(files.maxLength ? { maxLength: files.maxLength } : {}) },
      threads: options.threads ?? defaultThreads(),
      provider: PROVIDERS[device] ?? device,
      engine: options.engine ?? 'auto',
    };
    this.#supervisor = new Supervisor<OpenedEncoder>({
      name: `model ${files.name}`,
      engine: ENGINE,
      circuit: load.circuit,
      open: (host) => host.call<OpenedEncoder>('open', body),
    });
  }

  /** Starts a host and loads the encoder in it. Throws what loading throws, or 'unavailable' when the signal is aborted meanwhile; the process is gone then. */
  static async load(load: EncoderLoad, signal: AbortSignal): Promise<EncoderClient> {
    const client = new EncoderClient(load);
    client.#info = describe(load, await client.#supervisor.first(signal));
    return client;
  }

  get info(): EncoderInfo {
    return this.#info!;
  }

  get status(): EngineStatus {
    const { devices, notes, maxLength, engine } = this.info;
    return { devices, notes, options: { max_length: maxLength, ...(engine ? { engine } : {}) } };
  }

  /** Process id of the present host, for tests and status. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  async embed(texts: readonly string[], call: EncoderCall): Promise<{ vectors: Float32Array[]; tokens: number[] }> {
    this.#assertTask('embedding');
    const { rows, tokens } = await this.#numbers('embed', { texts }, call);
    return { vectors: rows, tokens };
  }

  async score(query: string, documents: readonly string[], call: EncoderCall): Promise<{ logits: Float32Array[]; tokens: number[] }> {
    this.#assertTask('reranking', 'classification');
    const { rows, tokens } = await this.#numbers('score', { texts: documents, query }, call);
    return { logits: rows, tokens };
  }

  async classify(
    texts: readonly string[],
    call: EncoderCall,
    pairs?: readonly string[],
  ): Promise<{ logits: Float32Array[]; tokens: number[] }> {
    this.#assertTask('reranking', 'classification');
    if (pairs && pairs.length !== texts.length) throw new Failure('internal', `${texts.length} texts have ${pairs.length} pairs.`);
    const { rows, tokens } = await this.#numbers('score', { texts, ...(pairs ? { pairs } : {}) }, call);
    return { logits: rows, tokens };
  }

  async entities(texts: readonly string[], call: EncoderCall): Promise<{ entities: Entity[][]; tokens: number[] }> {
    this.#assertTask('ner');
    const replies = await this.#sliced<EntitiesReply>('entities', { texts }, call);
    return { entities: replies.flatMap((reply) => reply.entities), tokens: replies.flatMap((reply) => reply.tokens) };
  }

  /** Ends the host; resolves when its memory is back. */
  close(): Promise<void> {
    return this.#supervisor.close();
  }

  async #numbers(
    method: string,
    what: Pick<CallBody, 'texts' | 'query' | 'pairs'>,
    call: EncoderCall,
  ): Promise<{ rows: Float32Array[]; tokens: number[] }> {
    const replies = await this.#sliced<NumbersReply>(method, what, call);
    return {
      rows: replies.flatMap(({ values, width, tokens }) => tokens.map((_, row) => values.subarray(row * width, (row + 1) * width))),
      tokens: replies.flatMap((reply) => reply.tokens),
    };
  }

  async #sliced<Reply>(method: string, what: Pick<CallBody, 'texts' | 'query' | 'pairs'>, call: EncoderCall): Promise<Reply[]> {
    const { host } = await this.#supervisor.ready(call.signal);
    const { urgency = 'interactive', maxLength, whole = false } = call;
    return askInSlices(what.texts, call.signal, (from, to, signal) => {
      const body: CallBody = {
        ...what,
        texts: what.texts.slice(from, to),
        ...(what.pairs ? { pairs: what.pairs.slice(from, to) } : {}),
        urgency,
        whole,
        ...(maxLength === undefined ? {} : { maxLength }),
      };
      return host.call<Reply>(method, body, signal);
    });
  }

  #assertTask(...tasks: readonly EncoderTask[]): void {
    const { task, files } = this.#load;
    if (!tasks.includes(task)) throw new Failure('internal', `Model ${files.name} is loaded for ${task}, not for ${tasks.join(' or ')}.`);
  }
}

function describe({ task, files }: EncoderLoad, opened: OpenedEncoder): EncoderInfo {
  const { requested, available, used, why } = opened.providers;
  return {
    name: files.name,
    path: files.model,
    format: 'onnx',
    architecture: opened.architecture,
    task,
    sizeBytes: opened.sizeBytes,
    dimensions: opened.dimensions,
    maxLength: opened.maxLength,
    pooling: opened.pooling,
    labels: opened.labels,
    ...(opened.problem === undefined ? {} : { problem: opened.problem }),
    engine: opened.engine,
    devices: { requested, available: [...available], used: [...used], why },
    notes: [...files.notes, ...opened.notes],
  };
}
