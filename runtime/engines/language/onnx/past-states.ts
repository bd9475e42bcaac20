import { Failure } from '../../../../schemas/errors.js';
import type { OnnxSession, Tensor, TensorSlot } from '../../onnx/contract.js';

/** Keys and values of attention, or both in one: a row more with each token. */
const GROWING = /^past_key_values\.\d+\.(key|value|key_value)$/;
const BOTH = /\.key_value$/;
/** What convolutions and recurrent layers keep, as exporters for transformers.js and for onnxruntime-genai name it: always of one size. */
const FIXED = /^past_(conv|ssm|recurrent)\.\d+(\.\w+)?$|^past\.\d+\.(conv|ssm|recurrent)$|^past_key_values\.\d+\.\w+_state$/;
/** Sizes of keys and values: a batch, heads, tokens, and the values of a head. */
const RANK = 4;
/** The same of exports in which batch and heads are one, or of one head for all: the graph leaves only the first and the tokens open. */
const FLAT_RANK = 3;

/** Values of one state; what says more is no model. */
const STATE_LIMIT = 2 ** 28;

/** Keys, values and states of a text by input name; how many tokens they stand for. */
export interface Past {
  readonly length: number;
  readonly tensors: Readonly<Record<string, Tensor>>;
}

/** An input for what was seen before. */
export interface PastSlot {
  readonly name: string;
  /** The output that goes in there next time. */
  readonly present: string;
  readonly type: 'float32' | 'float16';
  /** Where nothing was seen yet. */
  readonly dims: readonly number[];
}

/** Of one layer's keys, where the graph itself does not say. */
export interface HeadFacts {
  readonly heads: number;
  readonly headSize: number;
}

/** What a graph is that cannot be used. */
export const wrongGraph = (why: string): Failure =>
  new Failure(
    'bad_request',
    `The graph is not that of a language model: ${why}. Name a model that writes text; encoders are for embeddings and the like.`,
    { code: 'WrongModelType' },
  );

/** Whether an input is for what was seen before. */
export const isPast = (name: string): boolean => GROWING.test(name) || FIXED.test(name);

/** Whether what is kept under this name stands for a whole text, no beginning of which can be told. */
export const isFixed = (name: string): boolean => FIXED.test(name);

/** The inputs of a graph for what was seen before. Throws `bad_request` for those that cannot be filled. */
export function pastSlots({ inputs, outputs }: OnnxSession, facts: HeadFacts): PastSlot[] {
  return inputs.filter(({ name }) => isPast(name)).map((slot) => pastSlot(slot, outputs, facts));
}

function pastSlot(slot: TensorSlot, outputs: readonly TensorSlot[], facts: HeadFacts): PastSlot {
  const { name, type } = slot;
  if (type !== 'float32' && type !== 'float16') throw wrongGraph(`${name} is of ${type}, not of floats`);
  const present = name.startsWith('past_key_values') ? name.replace('past_key_values', 'present') : name.replace('past', 'present');
  if (!isFixed(name)) return { name, present, type, dims: growingSizes(slot, facts) };
  if (!outputs.some((output) => output.name === present)) throw wrongGraph(`it needs ${name} but does not give ${present}`);
  const dims = slot.dims.map((dim, at) => knownSize(dim, at === 0 ? 1 : 0));
  if (dims.length === 0 || dims.includes(0)) throw wrongGraph(`it does not say how large ${name} is`);
  if (dims.reduce((product, dim) => product * dim, 1) > STATE_LIMIT)
    throw wrongGraph(`${name} is [${dims.join(', ')}], too large for a state`);
  return { name, present, type, dims };
}

/** A size that the graph tells, or another where it leaves it open. */
const knownSize = (dim: number | string | undefined, otherwise: number): number => (typeof dim === 'number' && dim > 0 ? dim : otherwise);

/** Of keys and values of no tokens. */
function growingSizes({ name, dims }: TensorSlot, { heads, headSize }: HeadFacts): number[] {
  const isUsual = dims.length === 0 || dims.length === RANK;
  if (isUsual && !BOTH.test(name)) return [1, knownSize(dims[1], heads), 0, knownSize(dims[3], headSize)];
  const [first, ...rest] = dims;
  const flat = [knownSize(first, String(first).includes('heads') ? heads : 1), ...rest.map((dim) => knownSize(dim, 0))];
  if (flat.length === FLAT_RANK && flat.filter((size) => size === 0).length === 1) return flat;
  throw wrongGraph(`${name} is [${dims.join(', ')}], not [batch, heads, tokens, size]`);
}

/** Nothing seen yet: no keys and values, and states of zeros. */
export function emptyPast(slots: readonly PastSlot[]): Past {
  const empty = ({ type, dims }: PastSlot): Tensor => {
    const size = dims.reduce((product, dim) => product * dim, 1);
    return { type, dims, data: type === 'float16' ? new Uint16Array(size) : new Float32Array(size) };
  };
  return { length: 0, tensors: Object.fromEntries(slots.map((slot) => [slot.name, empty(slot)])) };
}

/** Whether beginnings can be cut from what was seen: usual keys and values have a row for each token, states stand for the whole text. */
export const isCuttable = (past: Past): boolean =>
  Object.entries(past.tensors).every(([name, { dims }]) => dims.length === RANK && !isFixed(name));

/** The first `length` tokens of what was seen, which has to be cuttable where they are not all. */
export function cutPast(past: Past, length: number): Past {
  if (length >= past.length) return past;
  const tensors = Object.entries(past.tensors).map(([name, { type, dims, data }]) => {
    const [batch, heads, before, size] = dims as [number, number, number, number];
    const out = data.slice(0, batch * heads * length * size) as Float32Array;
    for (let head = 0; head < batch * heads; head += 1) {
      const from = head * before * size;
      out.set(data.subarray(from, from + length * size) as Float32Array, head * length * size);
    }
    return [name, { type, dims: [batch, heads, length, size], data: out }];
  });
  return { length, tensors: Object.fromEntries(tensors) };
}

/** Texts of which it is kept what was seen. */
const HISTORY_LIMIT = 2;
/** The same where no beginning can be cut: a prompt and what it became with its answer are kept apart. */
const WHOLE_LIMIT = 4;

/** Of all that is kept together, in bytes; the newest stays whatever it takes. */
const BYTES_LIMIT = 1024 ** 3;

interface SeenPrompt {
  readonly tokens: Int32Array;
  readonly past: Past;
}

/** What was seen by the newest generations, so that a prompt with the same beginning need not be read again. */
export class SeenPrompts {
  #histories: SeenPrompt[] = [];
  readonly #bytesLimit: number;

  constructor(bytesLimit = BYTES_LIMIT) {
    this.#bytesLimit = bytesLimit;
  }

  /** What of a prompt was seen; at least its last token is left to read. */
  find(prompt: Int32Array): Past | undefined {
    let best: { past: Past; length: number } | undefined;
    for (const { tokens, past } of this.#histories) {
      let length = 0;
      while (length < tokens.length && length < prompt.length - 1 && tokens[length] === prompt[length]) length += 1;
      const isUsable = length === past.length || isCuttable(past);
      if (isUsable && length > (best?.length ?? 0)) best = { past, length };
    }
    return best && cutPast(best.past, best.length);
  }

  /** What was seen of the first `past.length` tokens; the oldest go where it is too much. */
  keep(tokens: Int32Array, past: Past): void {
    const own = tokens.slice(0, past.length);
    const others = this.#histories.filter((one) => one.tokens.length !== own.length || own.some((token, at) => token !== one.tokens[at]));
    let bytes = bytesOf(past);
    const kept = others.filter((one) => {
      bytes += bytesOf(one.past);
      return bytes <= this.#bytesLimit;
    });
    this.#histories = [{ tokens: own, past }, ...kept].slice(0, isCuttable(past) ? HISTORY_LIMIT : WHOLE_LIMIT);
  }
}

const bytesOf = ({ tensors }: Past): number => Object.values(tensors).reduce((sum, { data }) => sum + data.byteLength, 0);
