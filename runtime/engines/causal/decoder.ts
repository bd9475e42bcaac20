import { Failure } from '../../../schemas/errors.js';
import type { OnnxSession, Tensor, TensorSlot, TensorType } from '../onnx/contract.js';
import { float32Of } from '../onnx/float16.js';

const PAST = /^past_key_values\.(\d+)\.(key|value)$/;
/** What goes into a graph besides keys and values. */
const FED = ['input_ids', 'attention_mask', 'position_ids', 'use_cache_branch', 'num_logits_to_keep'];
const LOGITS = 'logits';
/** Tokens read at a time; between two pieces, other answers get their turn. */
const CHUNK = 128;
/** Tokens that a graph of two branches reads at once, which it can do at the beginning only: each takes a row of logits, 0.2 MB with 50,000 kinds. */
const FIRST_READ = 1024;
/** Inputs in a message. */
const SHOWN = 10;

/** Keys and values of a text by input name; how many tokens they stand for. */
export interface Past {
  readonly length: number;
  readonly tensors: Readonly<Record<string, Tensor>>;
}

/** What a decoder has to know of its model. */
export interface DecoderFacts {
  /** Of one layer's keys, where the graph itself does not say. */
  readonly heads: number;
  readonly headSize: number;
  readonly vocabularySize: number | undefined;
}

/** A text-generation graph: tokens and what came before go in, logits and keys and values come out. */
export class Decoder {
  readonly #session: OnnxSession;
  readonly #names: ReadonlySet<string>;
  readonly #past: readonly string[];
  readonly #vocabularySize: number;
  readonly #isSingle: boolean;
  readonly #shapes: ReadonlyMap<string, { type: TensorType; heads: number; size: number }>;

  /** Throws `bad_request` for a graph of another kind. */
  constructor(session: OnnxSession, { heads, headSize, vocabularySize = 1 }: DecoderFacts) {
    checkGraph(session, vocabularySize);
    this.#session = session;
    this.#names = new Set(session.inputs.map(({ name }) => name));
    this.#past = session.inputs.map(({ name }) => name).filter((name) => PAST.test(name));
    this.#vocabularySize = vocabularySize;
    this.#isSingle = session.inputs.some(({ name, dims }) => name === 'input_ids' && dims[1] === 1);
    const known = (dim: number | string | undefined, otherwise: number): number => (typeof dim === 'number' && dim > 0 ? dim : otherwise);
    this.#shapes = new Map(
      session.inputs
        .filter(({ name }) => PAST.test(name))
        .map(({ name, type, dims }) => [name, { type: type as TensorType, heads: known(dims[1], heads), size: known(dims[3], headSize) }]),
    );
  }

  /** Whether the graph keeps what it saw; else every token is looked at again for the next one. */
  get remembers(): boolean {
    return this.#past.length > 0;
  }

  /** Whether a prompt is read on from what was seen of it. Graphs of two branches read one token at a time there: they begin anew. */
  get resumes(): boolean {
    return this.remembers && !this.#names.has('use_cache_branch');
  }

  /** Tokens that may be read at once after `past`; graphs of two branches, and those for one token, were made for one there. */
  most(past: Past): number {
    if (!this.remembers) return Number.POSITIVE_INFINITY;
    if (this.#isSingle) return 1;
    if (this.resumes) return CHUNK;
    return past.length > 0 ? 1 : FIRST_READ;
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
    // Rows that nobody reads take memory: some 130 MB for 128 tokens of 256,000 kinds.
    if (this.#names.has('num_logits_to_keep')) feeds.num_logits_to_keep = { type: 'int64', dims: [], data: BigInt64Array.of(1n) };
    const outputs = await this.#session.run(feeds);
    const { dims } = outputs[LOGITS]!;
    checkLogits(dims, this.#vocabularySize);
    const width = dims.at(-1)!;
    const logits = float32Of(outputs[LOGITS]!);
    if (logits.length < width) throw new Failure('model_failed', `The model answers in the shape [${dims.join(', ')}].`);
    const present = (name: string): Tensor => outputs[name.replace('past_key_values', 'present')] ?? past.tensors[name]!;
    return {
      logits: logits.slice(logits.length - width),
      past: { length: past.length + count, tensors: Object.fromEntries(this.#past.map((name) => [name, present(name)])) },
    };
  }
}

const wrongType = (why: string): Failure =>
  new Failure('bad_request', `The graph is none of a language model: ${why}.`, { code: 'WrongModelType' });

function checkGraph({ inputs, outputs }: OnnxSession, vocabularySize: number): void {
  const names = inputs.map(({ name }) => name);
  const other = names.filter((name) => !FED.includes(name) && !PAST.test(name));
  if (other.length > 0) throw wrongType(`it needs ${other.slice(0, SHOWN).join(', ')}, which text generation does not have`);
  const logits: TensorSlot | undefined = outputs.find(({ name }) => name === LOGITS);
  if (!names.includes('input_ids') || !logits) throw wrongType(`it has no ${logits ? 'input_ids' : LOGITS}`);
  // Without a shape it says nothing.
  if (logits.dims.length > 0) checkLogits(logits.dims, vocabularySize);
}

/** Of named dimensions nothing is known. */
function checkLogits(dims: readonly (number | string)[], vocabularySize: number): void {
  const width = dims.at(-1);
  const isNarrow = typeof width === 'number' && width >= 0 && width < vocabularySize;
  if (dims.length === 3 && !isNarrow) return;
  throw wrongType(`its logits are [${dims.join(', ')}], not [batch, sequence, ${vocabularySize > 1 ? vocabularySize : 'vocabulary'}]`);
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
