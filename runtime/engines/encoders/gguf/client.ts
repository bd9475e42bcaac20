import type { NativeModelInfo } from '../../../../native/contract.js';
import { Failure } from '../../../../schemas/errors.js';
import { type GgufHeader, ggufHeader } from '../../../formats/gguf/header.js';
import type { RankingFacts } from '../../../formats/gguf/ranking.js';
import type { CircuitBreaker } from '../../../hosts/circuit-breaker.js';
import { Supervisor } from '../../../hosts/supervisor.js';
import type {
  EncoderCall,
  EncoderFiles,
  EncoderInfo,
  EncoderModel,
  EncoderOptions,
  EncoderTask,
  Pooling,
} from '../../contracts/encoder.js';
import { deviceNames, type EngineStatus, forcesCpu, type LoadedEngine } from '../../contracts/loaded.js';
import { askInSlices } from '../request-slices.js';

/** How a reranking model is asked, and what its vocabulary makes control tokens of. */
export interface Ranking extends RankingFacts {
  readonly controlTexts: readonly string[];
}

/** Asks a fresh host to load an embedding model, or one that ranks. */
export interface EncoderOpenBody {
  readonly path: string;
  readonly threads: number;
  readonly flashAttention: boolean;
  /** Layers on the GPU; -1 = all. */
  readonly gpuLayers: number;
  /** Tokens of one text at most. */
  readonly maxLength: number;
  /** Given for a model that ranks. */
  readonly ranking?: Ranking;
}

/** What a loaded embedding model is. */
export interface EncoderOpened {
  readonly native: NativeModelInfo;
  readonly maxLength: number;
  readonly dimensions: number;
  readonly pooling: Pooling | 'rank';
  readonly poolingKnown: boolean;
  /** Every device that the engine found, the CPU included. */
  readonly devices: { readonly name: string; readonly kind: 'cpu' | 'gpu' | 'accel' }[];
}

/** Texts to embed, or to compare with the query; `maxLength` is at most that of the model. */
export interface EncoderEmbedBody {
  readonly query?: string;
  readonly texts: readonly string[];
  readonly urgent: boolean;
  readonly maxLength: number;
  /** As in `EncoderCall`. */
  readonly whole: boolean;
}

/** Vectors, or scores, one after the other, and the tokens of each text after truncation. */
export interface EncoderEmbedded {
  readonly vectors: Float32Array;
  readonly tokens: number[];
}

const ENGINE = new URL('./entry.js', import.meta.url);
/** Where the file names no length. */
const DEFAULT_LENGTH = 512;
/** Longest text that one batch is made for, in tokens: its buffers take memory by the length. */
const LENGTH_LIMIT = 32_768;
/** Nearest to 0 and to 1 that a probability is taken: what f32 tells from them. */
const LEAST = 1e-38;
const MOST = 1 - 1e-7;
const ALL_LAYERS = -1;

/** What `GgufEncoder.load` needs. */
interface GgufEncoderLoad {
  readonly task: Extract<EncoderTask, 'embedding' | 'reranking'>;
  readonly files: EncoderFiles;
  readonly options: EncoderOptions & { readonly threads: number; readonly flashAttention: boolean };
  readonly circuit: CircuitBreaker;
}

/** A GGUF embedding or reranking model in its host process, from the daemon's side. */
export class GgufEncoder implements EncoderModel, LoadedEngine {
  readonly info: EncoderInfo;
  readonly #supervisor: Supervisor<EncoderOpened>;
  readonly #ranking: RankingFacts | undefined;

  private constructor(info: EncoderInfo, ranking: RankingFacts | undefined, supervisor: Supervisor<EncoderOpened>) {
    this.info = info;
    this.#ranking = ranking;
    this.#supervisor = supervisor;
  }

  /** Starts a host and loads the model in it. Throws what loading throws, or 'unavailable' when the signal is aborted meanwhile; the process is gone then. */
  static async load({ task, files, options, circuit }: GgufEncoderLoad, signal: AbortSignal): Promise<GgufEncoder> {
    const header = await ggufHeader(files.model, 'embedding');
    const ranking = task === 'reranking' ? rankingOf(header, files) : undefined;
    const body = openBody(header, files, options, ranking);
    const supervisor = new Supervisor<EncoderOpened>({
      name: `model ${files.name}`,
      engine: ENGINE,
      circuit,
      open: (host) => host.call<EncoderOpened>('open', body),
    });
    return new GgufEncoder(describe(files, header, body, await supervisor.first(signal)), ranking, supervisor);
  }

  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  get status(): EngineStatus {
    const { devices, notes, pooling, maxLength } = this.info;
    return { devices, options: { pooling: pooling ?? 'none', max_length: maxLength }, notes };
  }

  async embed(texts: readonly string[], call: EncoderCall): Promise<{ vectors: Float32Array[]; tokens: number[] }> {
    const { rows, tokens } = await this.#rows(texts, call);
    return { vectors: rows, tokens };
  }

  async score(query: string, documents: readonly string[], call: EncoderCall): Promise<{ logits: Float32Array[]; tokens: number[] }> {
    if (!this.#ranking) throw this.#cannot();
    const { rows, tokens } = await this.#rows(documents, call, query);
    // Of probabilities the first is that of "yes"; of logits `relevance` takes the one that it takes of an ONNX head.
    return { logits: this.#ranking.givesProbability ? rows.map(([yes]) => Float32Array.of(logit(yes!))) : rows, tokens };
  }

  async classify(): Promise<never> {
    throw this.#cannot();
  }

  async entities(): Promise<never> {
    throw this.#cannot();
  }

  /** Ends the host; resolves when its memory is back. */
  close(): Promise<void> {
    return this.#supervisor.close();
  }

  async #rows(
    texts: readonly string[],
    { signal, urgency, maxLength, whole = false }: EncoderCall,
    query?: string,
  ): Promise<{ rows: Float32Array[]; tokens: number[] }> {
    const { host } = await this.#supervisor.ready(signal);
    const most = Math.min(maxLength ?? this.info.maxLength, this.info.maxLength);
    const replies = await askInSlices(texts, signal, (from, to, stop) => {
      const asked = query === undefined ? {} : { query };
      const body: EncoderEmbedBody = { ...asked, texts: texts.slice(from, to), urgent: urgency !== 'bulk', maxLength: most, whole };
      return host.call<EncoderEmbedded>('embed', body, stop);
    });
    const rows = replies.flatMap(({ vectors, tokens }) => {
      const width = vectors.length / tokens.length;
      return tokens.map((_count, at) => vectors.subarray(at * width, (at + 1) * width));
    });
    return { rows, tokens: replies.flatMap(({ tokens }) => tokens) };
  }

  #cannot(): Failure {
    const { name, task } = this.info;
    const does = task === 'reranking' ? 'reranks' : 'makes embeddings';
    return new Failure('bad_request', `Model "${name}" is a GGUF model, which ${does} only.`, { code: 'TaskNotSupported' });
  }
}

/** The logit of a probability, finite also where it was rounded to 0 or 1. */
function logit(probability: number): number {
  const inside = Math.min(Math.max(probability, LEAST), MOST);
  return Math.log(inside / (1 - inside));
}

/** Throws `bad_request` for a file without a ranking head, or with one that the engine feeds wrongly. */
function rankingOf({ ranking }: GgufHeader, { name }: EncoderFiles): RankingFacts {
  if (ranking && ranking.segments > 1)
    throw new Failure(
      'bad_request',
      `Model "${name}" tells its two texts apart by ${ranking.segments} segments, and the GGUF engine gives both the first; use the ONNX files of this reranker.`,
      { code: 'TaskNotSupported' },
    );
  if (ranking) return ranking;
  throw new Failure(
    'bad_request',
    `Model "${name}" is a GGUF model with no ranking head (its pooling is not rank), which makes embeddings only; name one that reranks.`,
    { code: 'TaskNotSupported' },
  );
}

function openBody(
  header: GgufHeader,
  files: EncoderFiles,
  options: GgufEncoderLoad['options'],
  ranking: RankingFacts | undefined,
): EncoderOpenBody {
  const wanted = header.contextLength || files.maxLength || DEFAULT_LENGTH;
  const forceCpu = options.device === 'cpu' || forcesCpu();
  return {
    path: header.path,
    threads: options.threads,
    flashAttention: options.flashAttention,
    gpuLayers: forceCpu ? 0 : (options.gpuLayers ?? ALL_LAYERS),
    maxLength: Math.min(wanted, LENGTH_LIMIT),
    ...(ranking ? { ranking: { ...ranking, controlTexts: header.vocabulary.controlTexts } } : {}),
  };
}

function describe(files: EncoderFiles, header: GgufHeader, body: EncoderOpenBody, opened: EncoderOpened): EncoderInfo {
  const { native, devices, dimensions, maxLength, pooling, poolingKnown } = opened;
  const others = devices.filter((device) => device.kind !== 'cpu').map((device) => device.name);
  const onOther = native.devices.some((name) => others.includes(name));
  const why =
    body.gpuLayers === 0
      ? 'the CPU was asked for'
      : others.length === 0
        ? 'no GPU or accelerator was found'
        : 'the engine placed no layer there';
  const chosen = `The file names no pooling, so it is no embedding model by its own word; ${pooling} pooling is used.`;
  return {
    name: files.name,
    path: header.path,
    format: 'gguf',
    architecture: header.architecture,
    task: body.ranking ? 'reranking' : 'embedding',
    sizeBytes: header.sizeBytes,
    dimensions: body.ranking ? null : dimensions,
    maxLength,
    pooling: pooling === 'rank' ? null : pooling,
    labels: [],
    devices: {
      requested: body.gpuLayers === 0 ? 'cpu' : 'auto',
      available: deviceNames(devices.map((device) => device.name)),
      used: deviceNames(native.devices),
      why: onOther ? null : why,
    },
    notes: [...files.notes, ...header.notes, ...(poolingKnown ? [] : [chosen])],
  };
}
