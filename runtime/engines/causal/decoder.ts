import { Failure } from '../../../schemas/errors.js';
import type { OnnxSession, Tensor, TensorType } from '../onnx/contract.js';
import { float32Of } from '../onnx/float16.js';

const PAST = /^past_key_values\.(\d+)\.(key|value)$/;

/** Keys and values of a text by input name; how many tokens they stand for. */
export interface Past {
  readonly length: number;
  readonly tensors: Readonly<Record<string, Tensor>>;
}

/** A text-generation graph: tokens and what came before go in, logits and keys and values come out. */
export class Decoder {
  readonly #session: OnnxSession;
  readonly #names: ReadonlySet<string>;
  readonly #past: readonly string[];
  readonly #shapes: ReadonlyMap<string, { type: TensorType; heads: number; size: number }>;

  /** `heads` and `size` are of one layer's keys, where the graph itself does not say. Throws `invalid` for a graph of another kind. */
  constructor(session: OnnxSession, heads: number, size: number) {
    this.#session = session;
    this.#names = new Set(session.inputs.map(({ name }) => name));
    this.#past = session.inputs.map(({ name }) => name).filter((name) => PAST.test(name));
    if (!this.#names.has('input_ids') || !session.outputs.some(({ name }) => name === 'logits'))
      throw new Failure('invalid', 'The graph has no input_ids or no logits; it is no export for text generation.', {
        code: 'InvalidModelFile',
      });
    const known = (dim: number | string | undefined, otherwise: number): number => (typeof dim === 'number' && dim > 0 ? dim : otherwise);
    this.#shapes = new Map(
      session.inputs
        .filter(({ name }) => PAST.test(name))
        .map(({ name, type, dims }) => [name, { type: type as TensorType, heads: known(dims[1], heads), size: known(dims[3], size) }]),
    );
  }

  /** Whether the graph keeps what it saw; else every token is looked at again for the next one. */
  get remembers(): boolean {
    return this.#past.length > 0;
  }

  /** Nothing seen yet. */
  get nothing(): Past {
    const empty = (name: string): Tensor => {
      const { type, heads, size } = this.#shapes.get(name)!;
      const data = type === 'float16' ? new Uint16Array(0) : new Float32Array(0);
      return { type, dims: [1, heads, 0, size], data };
    };
    return { length: 0, tensors: Object.fromEntries(this.#past.map((name) => [name, empty(name)])) };
  }

  /** Reads tokens after `past`; the logits of the last one, and all that was seen. */
  async read(tokens: Int32Array, past: Past): Promise<{ logits: Float32Array; past: Past }> {
    const count = tokens.length;
    const row = (values: readonly bigint[]): Tensor => ({ type: 'int64', dims: [1, values.length], data: BigInt64Array.from(values) });
    const feeds: Record<string, Tensor> = { input_ids: row(Array.from(tokens, BigInt)), ...past.tensors };
    if (this.#names.has('attention_mask')) feeds.attention_mask = row(Array.from({ length: past.length + count }, () => 1n));
    if (this.#names.has('position_ids')) feeds.position_ids = row(Array.from({ length: count }, (_, index) => BigInt(past.length + index)));
    if (this.#names.has('use_cache_branch'))
      feeds.use_cache_branch = { type: 'bool', dims: [1], data: Uint8Array.of(past.length > 0 ? 1 : 0) };
    const outputs = await this.#session.run(feeds);
    const { dims } = outputs.logits!;
    const width = dims.at(-1)!;
    const logits = float32Of(outputs.logits!);
    if (dims.length !== 3 || logits.length < width)
      throw new Failure('model_failed', `The model answers in the shape [${dims.join(', ')}].`);
    const present = (name: string): Tensor => outputs[name.replace('past_key_values', 'present')] ?? past.tensors[name]!;
    return {
      logits: logits.slice(logits.length - width),
      past: { length: past.length + count, tensors: Object.fromEntries(this.#past.map((name) => [name, present(name)])) },
    };
  }
}

/** The first `length` tokens of what was seen. */
export function cut(past: Past, length: number): Past {
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
