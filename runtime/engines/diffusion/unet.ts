import type { OnnxSession } from '../onnx/contract.js';
import { pipelineFault, unsupported } from './pipeline-folder.js';
import { tensorFor, valuesOf } from './tensors.js';
import type { EncodedPrompt } from './text-encoder.js';

/** The inputs of the network besides the sample. */
export interface Condition {
  /** Without and with the prompt; the first is absent where nothing is guided. */
  readonly texts: readonly EncodedPrompt[];
  readonly guidance: number;
  /** The guidance as a vector, where the network takes it. */
  readonly guidanceInput?: Float32Array | undefined;
  /** Sizes and corner of the picture, as large pipelines are told. */
  readonly sizes: readonly number[];
  /** Further channels that some networks take with the sample, such as a mask. */
  readonly extra?: Float32Array | undefined;
  /** One after the other instead of together: half of the memory. */
  readonly apart: boolean;
}

/** Of the vector that tells the guidance, where a graph leaves it open. */
const USUAL_WIDTH = 256;
const WIDTH_LIMIT = 4096;
const NEEDED = ['sample', 'timestep', 'encoder_hidden_states'];
const KNOWN: ReadonlySet<string> = new Set([...NEEDED, 'text_embeds', 'time_ids', 'timestep_cond']);

/** A latent picture: channels of rows. */
export interface LatentShape {
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

/** The network that sees noise in latent pictures. */
export class Unet {
  readonly #session: OnnxSession;
  readonly #names: ReadonlySet<string>;

  constructor(session: OnnxSession) {
    this.#session = session;
    this.#names = new Set(session.inputs.map(({ name }) => name));
    for (const name of NEEDED) if (!this.#names.has(name)) throw pipelineFault(session.file, `has no input ${name}`);
    const strange = [...this.#names].filter((name) => !KNOWN.has(name));
    if (strange.length > 0) throw unsupported(`its ${session.file} wants ${strange.slice(0, 4).join(', ')}, which nothing here gives it`);
    const width = this.#guidanceWidth();
    if (width > WIDTH_LIMIT)
      throw pipelineFault(session.file, `takes its guidance as ${width} numbers; ${WIDTH_LIMIT} at most are understood`);
  }

  /** It takes as an input how strongly to follow the prompt, and needs no second answer without the prompt. */
  get takesGuidance(): boolean {
    return this.#names.has('timestep_cond');
  }

  /** A guidance as the network takes it; undefined where it takes none. */
  guidanceInput(guidance: number): Float32Array | undefined {
    return this.takesGuidance ? guidanceVector(guidance, this.#guidanceWidth()) : undefined;
  }

  /** The output of the network at a timestep, guided towards the prompt (Ho and Salimans 2022). */
  async predict(sample: Float32Array, shape: LatentShape, timestep: number, condition: Condition): Promise<Float32Array> {
    const { texts, guidance, apart } = condition;
    const outputs: Float32Array[] = [];
    if (apart) for (const text of texts) outputs.push(await this.#run(sample, shape, timestep, [text], condition));
    else outputs.push(await this.#run(sample, shape, timestep, texts, condition));
    const [first] = outputs as [Float32Array, ...Float32Array[]];
    if (texts.length === 1) return first;
    const size = sample.length;
    const without = apart ? first : first.subarray(0, size);
    const withPrompt = apart ? outputs[1]! : first.subarray(size);
    return withPrompt.map((value, place) => without[place]! + guidance * (value - without[place]!));
  }

  async #run(
    sample: Float32Array,
    shape: LatentShape,
    timestep: number,
    texts: readonly EncodedPrompt[],
    condition: Condition,
  ): Promise<Float32Array> {
    const { channels, height, width } = shape;
    const { extra, sizes, guidanceInput } = condition;
    const batch = texts.length;
    const one = extra ? concatFloats([sample, extra]) : sample;
    const all = channels + (extra ? extra.length / (height * width) : 0);
    const [text] = texts as [EncodedPrompt, ...EncodedPrompt[]];
    const session = this.#session;
    const steps = stepDims(session, batch);
    const feeds = {
      sample: tensorFor(session, 'sample', [batch, all, height, width], concatFloats(texts.map(() => one))),
      timestep: tensorFor(
        session,
        'timestep',
        steps,
        Array.from({ length: steps[0] ?? 1 }, () => timestep),
      ),
      encoder_hidden_states: tensorFor(
        session,
        'encoder_hidden_states',
        [batch, text.length, text.width],
        concatFloats(texts.map(({ rows }) => rows)),
      ),
      ...(guidanceInput
        ? {
            timestep_cond: tensorFor(session, 'timestep_cond', [batch, guidanceInput.length], concatFloats(texts.map(() => guidanceInput))),
          }
        : {}),
      ...(this.#names.has('text_embeds') ? { text_embeds: this.#pooled(texts) } : {}),
      ...(this.#names.has('time_ids')
        ? {
            time_ids: tensorFor(
              session,
              'time_ids',
              [batch, sizes.length],
              texts.flatMap(() => sizes),
            ),
          }
        : {}),
    };
    const name = session.outputs[0]!.name;
    const { values } = valuesOf(await session.run(feeds, [name]), name, 'network');
    if (values.length !== batch * sample.length)
      throw pipelineFault(session.file, `gives ${values.length} values for ${batch * sample.length}`);
    return values;
  }

  #guidanceWidth(): number {
    const width = this.#session.inputs.find(({ name }) => name === 'timestep_cond')?.dims[1];
    return typeof width === 'number' && width > 1 ? width : USUAL_WIDTH;
  }

  #pooled(texts: readonly EncodedPrompt[]) {
    const vectors = texts.map(({ pooled }) => pooled);
    if (vectors.some((vector) => vector === undefined))
      throw pipelineFault('text encoder', 'gives no vector of the whole text, which the network needs');
    const width = vectors[0]!.length;
    return tensorFor(this.#session, 'text_embeds', [texts.length, width], concatFloats(vectors as Float32Array[]));
  }
}

/** Exports take the timestep as one number, as a list of one, or as one per sample. */
function stepDims(session: OnnxSession, batch: number): number[] {
  const [dim] = session.inputs.find(({ name }) => name === 'timestep')!.dims;
  return dim === undefined ? [] : [dim === 1 ? 1 : batch];
}

/** Arrays one behind the other. */
export function concatFloats(parts: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Waves per vector are spread from 1 down to one part in this many. */
const SLOWEST = 10_000;
const SCALE = 1000;

/** How networks are told their guidance that were trained to follow it by themselves: sines and cosines of what passes 1 (Luo et al. 2023). */
export function guidanceVector(guidance: number, width: number): Float32Array {
  const half = Math.floor(width / 2);
  const out = new Float32Array(width);
  for (let place = 0; place < half; place += 1) {
    const angle = (guidance - 1) * SCALE * SLOWEST ** (-place / Math.max(1, half - 1));
    out[place] = Math.sin(angle);
    out[half + place] = Math.cos(angle);
  }
  return out;
}
