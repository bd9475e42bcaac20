import { Failure } from '../../../schemas/errors.js';
import type { Circuit } from '../../hosts/circuit.js';
import { Supervisor } from '../../hosts/supervisor.js';
import type { EncoderCall, EncoderFiles, EncoderInfo, EncoderModel, EncoderOptions } from '../encoder-contract.js';
import type { EngineStatus, LoadedEngine } from '../loaded.js';
import { sliced } from '../onnx/slices.js';
import type { EncoderEmbedBody, EncoderEmbedded, EncoderOpenBody, EncoderOpened } from './encoder-wire.js';
import { type GgufHeader, ggufHeader } from './header.js';

const ENGINE = new URL('./encoder-entry.js', import.meta.url);
/** Where the file names no length. */
const DEFAULT_LENGTH = 512;
/** Longest text that one batch is made for, in tokens: its buffers take memory by the length. */
const LENGTH_LIMIT = 32_768;
const SURE = /^(1|true|yes)$/i;

/** What `GgufEncoder.load` needs. */
export interface GgufEncoderLoad {
  readonly files: EncoderFiles;
  readonly options: EncoderOptions & { readonly threads: number; readonly flashAttention: boolean };
  readonly circuit: Circuit;
}

/** A GGUF embedding model in its host process, from the daemon's side. */
export class GgufEncoder implements EncoderModel, LoadedEngine {
  readonly info: EncoderInfo;
  readonly #supervisor: Supervisor<EncoderOpened>;

  private constructor(info: EncoderInfo, supervisor: Supervisor<EncoderOpened>) {
    this.info = info;
    this.#supervisor = supervisor;
  }

  /** Starts a host and loads the model in it. Throws what loading throws, or 'unavailable' when the signal is aborted meanwhile; the process is gone then. */
  static async load({ files, options, circuit }: GgufEncoderLoad, signal: AbortSignal): Promise<GgufEncoder> {
    const header = await ggufHeader(files.model, 'embedding');
    const body = openBody(header, files, options);
    const supervisor = new Supervisor<EncoderOpened>({
      name: `model ${files.name}`,
      engine: ENGINE,
      circuit,
      open: (host) => host.call<EncoderOpened>('open', body),
    });
    return new GgufEncoder(describe(files, header, body, await supervisor.first(signal)), supervisor);
  }

  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  get status(): EngineStatus {
    const { devices, notes, pooling, maxLength } = this.info;
    return { devices, options: { pooling: pooling ?? 'none', max_length: maxLength }, notes };
  }

  async embed(
    texts: readonly string[],
    { signal, urgency, maxLength }: EncoderCall,
  ): Promise<{ vectors: Float32Array[]; tokens: number[] }> {
    const { host } = await this.#supervisor.ready(signal);
    const most = Math.min(maxLength ?? this.info.maxLength, this.info.maxLength);
    const width = this.info.dimensions!;
    const replies = await sliced(texts, signal, (from, to, stop) => {
      const body: EncoderEmbedBody = { texts: texts.slice(from, to), urgent: urgency !== 'bulk', maxLength: most };
      return host.call<EncoderEmbedded>('embed', body, stop);
    });
    return {
      vectors: replies.flatMap(({ vectors, tokens }) => tokens.map((_count, at) => vectors.subarray(at * width, (at + 1) * width))),
      tokens: replies.flatMap(({ tokens }) => tokens),
    };
  }

  score(): Promise<never> {
    return this.#onlyEmbeds();
  }

  classify(): Promise<never> {
    return this.#onlyEmbeds();
  }

  entities(): Promise<never> {
    return this.#onlyEmbeds();
  }

  /** Ends the host; resolves when its memory is back. */
  close(): Promise<void> {
    return this.#supervisor.close();
  }

  async #onlyEmbeds(): Promise<never> {
    throw new Failure('bad_request', `Model "${this.info.name}" is a GGUF model, which makes embeddings only.`, {
      code: 'TaskNotSupported',
    });
  }
}

function openBody(header: GgufHeader, files: EncoderFiles, options: GgufEncoderLoad['options']): EncoderOpenBody {
  const wanted = options.maxLength ?? (header.contextLength || files.maxLength || DEFAULT_LENGTH);
  const forceCpu = options.device === 'cpu' || SURE.test(process.env.GGUF_FORCE_CPU ?? '');
  return {
    path: header.path,
    threads: options.threads,
    flashAttention: options.flashAttention,
    gpuLayers: forceCpu ? 0 : -1,
    maxLength: Math.min(wanted, header.contextLength || wanted, LENGTH_LIMIT),
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
    task: 'embedding',
    sizeBytes: header.sizeBytes,
    dimensions,
    maxLength,
    pooling,
    labels: [],
    devices: {
      requested: body.gpuLayers === 0 ? 'cpu' : 'auto',
      available: devices.map((device) => device.name),
      used: native.devices,
      why: onOther ? null : why,
    },
    notes: [...files.notes, ...header.notes, ...(poolingKnown ? [] : [chosen])],
  };
}
