import { Failure } from '../../../schemas/errors.js';
import type { OnnxOptions, OnnxSession, Tensor, TensorSlot } from '../onnx/contract.js';
import { float32Of } from '../onnx/float16.js';
import { openSession } from '../onnx/session.js';
import { decoderGraphs } from './graphs.js';

const PAST = 'past_key_values.';
const PRESENT = 'present.';

/** A text on its way: what the encoder saw, and what the decoder remembers. */
interface Writing {
  readonly seen: Tensor;
  readonly ids: number[];
  readonly memory: Map<string, Tensor>;
}

/**
 * The decoder of an encoder-decoder model in the forms that exports have: one graph that takes all tokens each time, a first and a later one,
 * or both in one. With a memory each token costs one step.
 */
export class Decoder {
  readonly #first: OnnxSession;
  readonly #later: OnnxSession | undefined;

  private constructor(first: OnnxSession, later: OnnxSession | undefined) {
    this.#first = first;
    this.#later = later;
  }

  /** Opens the graphs among `files` (relative to the folder). Throws `invalid` where there is none. */
  static async open(folder: string, files: readonly string[], options: OnnxOptions): Promise<Decoder> {
    const { first, later } = decoderGraphs(files);
    if (first === undefined)
      throw new Failure('invalid', 'The model has no decoder_model.onnx or decoder_model_merged.onnx; export it with its decoder.', {
        code: 'InvalidModelFile',
      });
    const open = (file: string): Promise<OnnxSession> => openSession(`${folder}/${file}`, { folder, ...options });
    const opened = await open(first);
    if (later === undefined) return new Decoder(opened, undefined);
    return new Decoder(opened, later === first ? opened : await open(later));
  }

  /** Begins a text about what the encoder saw. */
  begin(seen: Tensor): Writing {
    return { seen, ids: [], memory: new Map() };
  }

  /** Takes further tokens and gives the logits of the next. */
  async step(writing: Writing, ids: readonly number[]): Promise<Float32Array> {
    writing.ids.push(...ids);
    const session = writing.memory.size > 0 ? this.#later! : this.#first;
    const given = writing.memory.size > 0 ? ids : writing.ids;
    const feeds = Object.fromEntries(session.inputs.map((slot) => [slot.name, feedFor(session, slot, writing, given)]));
    const outputs = session.outputs
      .map(({ name }) => name)
      .filter((name) => name === 'logits' || (this.#later && name.startsWith(PRESENT)));
    const answer = await session.run(feeds, outputs);
    for (const [name, tensor] of Object.entries(answer)) {
      // The joint graph gives nothing for what it remembers of the image after the first step.
      if (name.startsWith(PRESENT) && !tensor.dims.includes(0)) writing.memory.set(PAST + name.slice(PRESENT.length), tensor);
    }
    return lastRow(session, answer.logits);
  }
}

function feedFor({ file }: OnnxSession, slot: TensorSlot, { seen, memory }: Writing, ids: readonly number[]): Tensor {
  const { name } = slot;
  if (name === 'input_ids') return integers(ids, [1, ids.length]);
  if (name === 'encoder_hidden_states') return seen;
  if (name === 'use_cache_branch') return { type: 'bool', dims: [1], data: Uint8Array.of(memory.size > 0 ? 1 : 0) };
  if (name === 'encoder_attention_mask') return ones(seen.dims[1]!);
  if (name === 'attention_mask' || name === 'decoder_attention_mask') return ones(ids.length);
  if (name.startsWith(PAST)) return memory.get(name) ?? emptyMemory(slot);
  throw unknownInput(file, name);
}

/** The 422 of a graph, by its name in messages, with an input that no document model has. */
export function unknownInput(file: string, input: string): Failure {
  return new Failure('invalid', `${file} asks for an input "${input}" that is not known. Is it the graph of another model?`, {
    code: 'InvalidModelFile',
  });
}

/** 64-bit integers as a tensor. */
export function integers(values: readonly number[], dims: readonly number[]): Tensor {
  return { type: 'int64', dims, data: BigInt64Array.from(values, BigInt) };
}

const ones = (count: number): Tensor => integers(new Array<number>(count).fill(1), [1, count]);

/** An empty memory: the batch has one member, and the length is 0. */
function emptyMemory({ dims, type }: TensorSlot): Tensor {
  const shape = dims.map((dim, axis) => (typeof dim === 'number' && dim > 0 ? dim : axis === 0 ? 1 : 0));
  return type === 'float16' ? { type, dims: shape, data: new Uint16Array(0) } : { type: 'float32', dims: shape, data: new Float32Array(0) };
}

function lastRow({ file }: OnnxSession, logits: Tensor | undefined): Float32Array {
  if (logits?.dims.length !== 3) throw new Failure('invalid', `${file} gives no logits for each token.`, { code: 'InvalidModelFile' });
  return float32Of(logits).slice(-logits.dims[2]!);
}

/** A token that a decoder chose. */
export interface ChosenToken {
  readonly id: number;
  /** Among all tokens, 0 to 1. */
  readonly probability: number;
  /** Of the tokens that were watched, in their order. */
  readonly watched: readonly number[];
}

/** When and what a decoder writes. */
interface GreedyOptions {
  /** Not empty. */
  readonly start: readonly number[];
  readonly endId: number;
  /** Never chosen. */
  readonly banned: readonly number[];
  /** Tokens in all, the start included. */
  readonly maxLength: number;
  readonly watch?: readonly number[];
}

/** The likeliest token each time, until the end token or the length; the end token is not among them. */
export async function writeGreedily(decoder: Decoder, seen: Tensor, options: GreedyOptions, signal: AbortSignal): Promise<ChosenToken[]> {
  const { start, endId, banned, maxLength, watch = [] } = options;
  const writing = decoder.begin(seen);
  const chosen: ChosenToken[] = [];
  let next: readonly number[] = start;
  while (start.length + chosen.length < maxLength) {
    signal.throwIfAborted();
    const logits = await decoder.step(writing, next);
    for (const id of banned) if (id < logits.length) logits[id] = Number.NEGATIVE_INFINITY;
    let id = 0;
    for (let at = 1; at < logits.length; at += 1) if (logits[at]! > logits[id]!) id = at;
    if (id === endId) break;
    const highest = logits[id]!;
    let sum = 0;
    for (const logit of logits) sum += Math.exp(logit - highest);
    chosen.push({ id, probability: 1 / sum, watched: watch.map((one) => Math.exp(logits[one]! - highest) / sum) });
    next = [id];
  }
  return chosen;
}

/** The mean probability of tokens; 0 without any. */
export function meanOf(chosen: readonly Pick<ChosenToken, 'probability'>[]): number {
  return chosen.length === 0 ? 0 : chosen.reduce((sum, { probability }) => sum + probability, 0) / chosen.length;
}
