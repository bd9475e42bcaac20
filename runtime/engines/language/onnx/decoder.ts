import { Failure } from '../../../../schemas/errors.js';
import type { OnnxSession, Tensor, TensorSlot } from '../../onnx/contract.js';
import { float32Of } from '../../onnx/float16.js';
import { emptyPast, type HeadFacts, isFixed, isPast, type Past, type PastSlot, pastSlots, wrongGraph } from './past-states.js';

/** What goes into a graph besides what was seen, and in how many dimensions. */
const FED = new Map(
  Object.entries({ input_ids: 2, attention_mask: 2, position_ids: 2, cache_position: 1, use_cache_branch: 1, num_logits_to_keep: 0 }),
);
/** Models that see tell where a token lies in time, height and width, which are one for text; some have a row for the text besides. */
const POSITION_ROWS = [3, 4];
const LOGITS = 'logits';
/** Tokens read at a time; between two pieces, other answers get their turn. */
const CHUNK = 128;
/** Tokens read at once by a graph that can do so at the beginning only, fewer where their rows of logits would be more numbers (256 MB) than this. */
const FIRST_READ = 1024;
const FIRST_LOGITS = 2 ** 26;
/** Inputs in a message. */
const SHOWN = 10;

/** What a decoder has to know of its model. */
interface DecoderFacts extends HeadFacts {
  readonly vocabularySize: number | undefined;
}

/** A text-generation graph: tokens and what came before go in, logits and keys and values come out. */
export class Decoder {
  readonly #session: OnnxSession;
  readonly #names: ReadonlySet<string>;
  readonly #past: readonly PastSlot[];
  readonly #vocabularySize: number;
  readonly #positionRows: number | undefined;
  readonly #isSingle: boolean;
  /** Of graphs that keep what they saw: whether they take several tokens also after others. */
  #readsPieces: boolean;

  /** Throws `bad_request` for a graph of another kind. */
  constructor(session: OnnxSession, { vocabularySize = 1, ...facts }: DecoderFacts) {
    checkGraph(session, vocabularySize);
    this.#session = session;
    this.#names = new Set(session.inputs.map(({ name }) => name));
    this.#past = pastSlots(session, facts);
    this.#vocabularySize = vocabularySize;
    this.#positionRows = positionRows(session.inputs.find(({ name }) => name === 'position_ids')?.dims ?? []);
    this.#isSingle = session.inputs.some(({ name, dims }) => name === 'input_ids' && dims[1] === 1);
    this.#readsPieces = !(this.#names.has('use_cache_branch') || this.#past.some(({ name }) => isFixed(name)));
  }

  /** Whether the graph keeps what it saw; else every token is looked at again for the next one. */
  get remembers(): boolean {
    return this.#past.length > 0;
  }

  /** Whether a prompt is read on from what was seen of it. Graphs that read one token at a time there, and more at the beginning, begin anew. */
  get resumes(): boolean {
    return this.remembers && (this.#readsPieces || this.#isSingle) && !this.#names.has('use_cache_branch');
  }

  /** Finds out whether a graph with states reads several tokens at once also after others; until then it is not asked to. `sample`: any text. */
  async tryPieces(sample: Int32Array): Promise<void> {
    const isKnown = this.#readsPieces || this.#isSingle || this.#names.has('use_cache_branch');
    if (!isKnown) this.#readsPieces = await readsPieces(this, sample);
  }

  /** Tokens that may be read at once after `past`. */
  most(past: Past): number {
    if (!this.remembers) return Number.POSITIVE_INFINITY;
    if (this.#isSingle) return 1;
    if (this.#readsPieces) return CHUNK;
    return past.length > 0 ? 1 : Math.min(FIRST_READ, Math.ceil(FIRST_LOGITS / this.#vocabularySize));
  }

  /** Nothing seen yet. */
  get nothing(): Past {
    return emptyPast(this.#past);
  }

  /** Reads tokens after `past`; the logits of the last one, and all that was seen. */
  async read(tokens: Int32Array, past: Past): Promise<{ logits: Float32Array; past: Past }> {
    const count = tokens.length;
    const row = (values: readonly bigint[]): Tensor => ({ type: 'int64', dims: [1, values.length], data: BigInt64Array.from(values) });
    const feeds: Record<string, Tensor> = { input_ids: row(Array.from(tokens, BigInt)), ...past.tensors };
    if (this.#names.has('attention_mask')) feeds.attention_mask = row(Array.from({ length: past.length + count }, () => 1n));
    const positions = row(Array.from({ length: count }, (_, index) => BigInt(past.length + index)));
    if (this.#names.has('position_ids')) feeds.position_ids = this.#inRows(positions);
    if (this.#names.has('cache_position')) feeds.cache_position = { ...positions, dims: [count] };
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
    const seen = this.#past.map(({ name, present }) => [name, outputs[present] ?? past.tensors[name]!]);
    return {
      logits: logits.slice(logits.length - width),
      past: { length: past.length + count, tensors: Object.fromEntries(seen) },
    };
  }

  #inRows(positions: Tensor): Tensor {
    const count = this.#positionRows;
    if (count === undefined) return positions;
    const rows = Array.from({ length: count }, () => [...(positions.data as BigInt64Array)]).flat();
    return { ...positions, dims: [count, ...positions.dims], data: BigInt64Array.from(rows) };
  }
}

/** How often a graph wants to be told where tokens lie, where it is not once. */
function positionRows(dims: TensorSlot['dims']): number | undefined {
  return dims.length === 3 ? POSITION_ROWS.find((count) => count === dims[0]) : undefined;
}

function checkGraph({ inputs, outputs }: OnnxSession, vocabularySize: number): void {
  const names = inputs.map(({ name }) => name);
  const other = names.filter((name) => !FED.has(name) && !isPast(name));
  if (other.length > 0) throw wrongGraph(`it needs ${other.slice(0, SHOWN).join(', ')}, which text generation does not have`);
  // Without a shape an input says nothing.
  const odd = inputs.find(
    ({ name, dims }) =>
      FED.has(name) && ![0, FED.get(name)].includes(dims.length) && !(name === 'position_ids' && positionRows(dims) !== undefined),
  );
  if (odd) throw wrongGraph(`${odd.name} is [${odd.dims.join(', ')}], which text generation does not have`);
  const logits: TensorSlot | undefined = outputs.find(({ name }) => name === LOGITS);
  if (!names.includes('input_ids') || !logits) throw wrongGraph(`it has no ${logits ? 'input_ids' : LOGITS}`);
  // Without a shape it says nothing.
  if (logits.dims.length > 0) checkLogits(logits.dims, vocabularySize);
}

/** Of named dimensions nothing is known. */
function checkLogits(dims: readonly (number | string)[], vocabularySize: number): void {
  const width = dims.at(-1);
  const isNarrow = typeof width === 'number' && width >= 0 && width < vocabularySize;
  if (dims.length === 3 && !isNarrow) return;
  throw wrongGraph(`its logits are [${dims.join(', ')}], not [batch, sequence, ${vocabularySize > 1 ? vocabularySize : 'vocabulary'}]`);
}

/** Tokens that are tried: the first at once, the next ones in ways that differ, and one more that shows what was kept of them. */
const FIRST_PIECE = 3;

const PIECES = [3, 2];

const LAST_AT = FIRST_PIECE + PIECES.reduce((sum, piece) => sum + piece, 0);

/** Numbers this far below the largest are of tokens that a model never writes. */
const FAR = 1000;

/** How far logits of pieces may be off, in parts of their spread; further, up to the limit, if they are further off with the states forgotten. */
const SLACK = 0.01;

const LIMIT = 0.2;

const FORGOTTEN_FACTOR = 3;

/** Reads tokens after what was seen; see `Decoder`. */
interface TokenReader {
  readonly nothing: Past;
  read(tokens: Int32Array, past: Past): Promise<{ logits: Float32Array; past: Past }>;
}

/**
 * Whether several tokens after others are read as one by one. Exports with states differ in this, and no graph says it: some look at the state
 * for a single token only and take several for the beginning of a text. So it is tried, with the `sample` read whole, in pieces, and in pieces with forgotten states.
 */
async function readsPieces(reader: TokenReader, sample: Int32Array): Promise<boolean> {
  if (sample.length <= LAST_AT) return false;
  const whole = await readAs(reader, sample, [LAST_AT]);
  const off = (logits: Float32Array[]): number => Math.max(...logits.map((row, at) => logitDistance(row, whole[at]!)));
  try {
    const pieces = off(await readAs(reader, sample, [FIRST_PIECE, ...PIECES]));
    if (pieces <= SLACK) return true;
    const forgotten = off(await readAs(reader, sample, [FIRST_PIECE, ...PIECES], withoutStates));
    return pieces <= LIMIT && pieces * FORGOTTEN_FACTOR <= forgotten;
  } catch {
    // A graph may refuse them.
    return false;
  }
}

/** The logits after all pieces, and after one token more; `between` changes what was seen before each further piece. */
async function readAs(
  reader: TokenReader,
  sample: Int32Array,
  pieces: readonly number[],
  between: (past: Past) => Past = (past) => past,
): Promise<Float32Array[]> {
  let past = reader.nothing;
  let last: Float32Array = new Float32Array(0);
  for (const piece of pieces) ({ logits: last, past } = await reader.read(sample.slice(past.length, past.length + piece), between(past)));
  const { logits } = await reader.read(sample.slice(past.length, past.length + 1), past);
  return [last, logits];
}

/** What was seen with states of zeros, and the keys and values that are there. */
function withoutStates({ length, tensors }: Past): Past {
  const forgotten = Object.entries(tensors).map(([name, tensor]) => [
    name,
    isFixed(name) ? { ...tensor, data: tensor.data.map(() => 0 as never) } : tensor,
  ]);
  return { length, tensors: Object.fromEntries(forgotten) };
}

/** How far two rows are apart, in parts of the second one's spread. */
function logitDistance(row: Float32Array, from: Float32Array): number {
  const least = from.reduce((largest, value) => Math.max(largest, value), Number.NEGATIVE_INFINITY) - FAR;
  let count = 0;
  let sum = 0;
  let squares = 0;
  let apart = 0;
  for (const [at, value] of from.entries()) {
    if (!(value >= least)) continue;
    count += 1;
    sum += value;
    squares += value * value;
    apart += (row[at]! - value) ** 2;
  }
  return apart === 0 && count > 0 ? 0 : Math.sqrt(apart / Math.max(squares - (sum * sum) / count, 0));
}
