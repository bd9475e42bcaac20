import type {
  Dense,
  EncoderLayer,
  EncoderWeights,
  HeadStep,
  NativeEncoder,
  Norm,
  QuantisedValues,
} from '../../../../../native/contract.js';
import { loadCore } from '../../../../../native/loader.js';
import { Failure } from '../../../../../schemas/errors.js';
import { type Constant, ConstantReader, countOf } from '../../../onnx/constants.js';
import type { ProviderFacts } from '../../../onnx/contract.js';
import { readGraph } from '../../../onnx/graph.js';
import { RAGGED, type Row } from '../batcher.js';
import { type Batch, type EncoderPass, outputForTask, outputSuitsTask, type PassSettings, unknownToken, wrongTask } from '../pass.js';
import type { RowStates } from '../pooling.js';
import type { Found } from './pattern.js';
import { type HeadPlaces, type Recognised, recognise, sizesOf, Unrecognised } from './recognise.js';

/**
 * Passes that take no longer run on the host's own thread. The way to the pool and back costs up to 0.3 ms where a core has to be woken for it; a host has
 * nothing else to do meanwhile but to take note of further calls.
 */
const SHORT_MS = 5;

/** A native pass, or why there is none, in words that follow "because". */
type NativeAnswer = { readonly pass: EncoderPass } | { readonly whyNot: string };

/** How a native pass is opened. */
interface NativeOptions {
  readonly threads: number;
  readonly providers: ProviderFacts;
}

/**
 * Opens the native pass of a graph that `inspectGraph` has found to be sound; sync work of about a second for 100 MB, for hosts. Throws `bad_request` (code
 * `TaskNotSupported`) for a model of another task.
 */
export function openNative(path: string, settings: PassSettings, { threads, providers }: NativeOptions): NativeAnswer {
  try {
    const graph = readGraph(path);
    const output = outputForTask(
      graph.outputs.map(({ name }) => name),
      settings,
    );
    const recognised = recognise(graph, output, settings.firstPosition);
    const { positions, firstPosition } = recognised.shape;
    if (positions - firstPosition < settings.maxLength)
      return { whyNot: `its texts may have ${settings.maxLength} tokens, and its table has ${positions - firstPosition} positions` };
    const head = pooledHead(recognised.head, settings);
    const native = loadCore().openEncoder(recognised.shape, readWeights(path, { ...recognised, head }), { threads });
    return { pass: new NativePass(native, { recognised, givesTokens: isPerToken(head), output, settings, providers }) };
  } catch (error) {
    // What the native pass cannot take, ONNX Runtime may; a file that is damaged fails there with its own words.
    const isWhyNot = error instanceof Unrecognised || error instanceof RangeError;
    if (isWhyNot || (error instanceof Failure && error.kind !== 'bad_request')) return { whyNot: error.message.replace(/\.$/, '') };
    throw error;
  }
}

const isPerToken = (head: readonly HeadPlaces[]): boolean => head.every((step) => !('take' in step));

/** The steps after the layers, with what pools the vectors of a text where the task asks for it and the pass has a step for it. */
function pooledHead(head: readonly HeadPlaces[], { task, pooling }: PassSettings): readonly HeadPlaces[] {
  if (task !== 'embedding' || !isPerToken(head) || (pooling !== 'cls' && pooling !== 'mean')) return head;
  return [...head, { take: pooling === 'cls' ? 'first' : 'mean' }];
}

interface Opened {
  readonly recognised: Recognised;
  /** Whether a vector comes for each token, and not for each text. */
  readonly givesTokens: boolean;
  readonly output: string;
  readonly settings: PassSettings;
  readonly providers: ProviderFacts;
}

/** The native forward pass: the rows of a batch lie one after the other, and none is padded. */
class NativePass implements EncoderPass {
  readonly engine: EncoderPass['engine'];
  readonly layout = RAGGED;
  readonly #native: NativeEncoder;
  readonly #settings: PassSettings;
  readonly #takesTypes: boolean;
  /** Whether the graph gives a vector for each token, and the native pass too. */
  readonly #isPerToken: boolean;
  readonly #givesTokens: boolean;

  constructor(native: NativeEncoder, { recognised, givesTokens, output, settings, providers }: Opened) {
    this.#native = native;
    this.#settings = settings;
    this.#takesTypes = recognised.shape.types > 0;
    this.#isPerToken = isPerToken(recognised.head);
    this.#givesTokens = givesTokens;
    this.engine = { name: 'native', whyNotNative: null, providers };
    if (outputSuitsTask(settings.task, this.#isPerToken)) return;
    native.close();
    throw wrongTask(settings, output, ['texts', ...(this.#isPerToken ? ['tokens'] : []), native.outputs]);
  }

  async run(rows: readonly Row<Batch>[], _length: number, expectedMs = Number.POSITIVE_INFINITY): Promise<Batch> {
    const lengths = Int32Array.from(rows, ({ ids }) => ids.length);
    const starts = new Int32Array(rows.length + 1);
    for (const [index, length] of lengths.entries()) starts[index + 1] = starts[index]! + length;
    const ids = new Int32Array(starts[rows.length]!);
    const types = this.#takesTypes ? new Int32Array(ids.length) : undefined;
    for (const [index, row] of rows.entries()) {
      ids.set(row.ids, starts[index]);
      types?.set(row.types, starts[index]);
    }
    const values = await this.#values(ids, lengths, types, expectedMs <= SHORT_MS);
    const width = this.#native.outputs;
    const part = (from: number, tokens: number): RowStates => ({
      values: values.subarray(from * width, (from + tokens) * width),
      tokens,
      dimensions: width,
    });
    const states: Batch['states'] = this.#givesTokens ? (index, tokens) => part(starts[index]!, tokens) : (index) => part(index, 1);
    return { width, isPerToken: this.#isPerToken, states };
  }

  async #values(ids: Int32Array, lengths: Int32Array, types: Int32Array | undefined, isShort: boolean): Promise<Float32Array> {
    try {
      // `Batcher` runs one batch at a time, so that no other call is under way.
      return isShort ? this.#native.runNow(ids, lengths, types) : await this.#native.run(ids, lengths, types);
    } catch (error) {
      // The caller gave texts, not tokens: a tokenizer that knows more than the tables is the model's fault.
      throw error instanceof Failure && error.kind === 'invalid' && error.message.startsWith('ids ')
        ? unknownToken(this.#settings, error.message, error)
        : error;
    }
  }

  async close(): Promise<void> {
    this.#native.close();
  }
}

/** Reads the weights of a recognised graph. Throws Unrecognised where one has not the size that its place asks for. */
export function readWeights(path: string, recognised: Recognised): EncoderWeights {
  return new WeightReader(path, recognised).all();
}

class WeightReader {
  readonly #reader: ConstantReader;
  readonly #recognised: Recognised;

  constructor(path: string, recognised: Recognised) {
    this.#reader = new ConstantReader(path);
    this.#recognised = recognised;
  }

  all(): EncoderWeights {
    const { shape, tables, layers, head } = this.#recognised;
    const { width, inner } = shape;
    const positions = this.#table(tables.positions);
    if (tables.firstType) addToRows(positions, this.#table(tables.firstType).subarray(0, width));
    return {
      words: this.#words(tables.words),
      positions,
      ...(tables.types ? { types: this.#table(tables.types) } : {}),
      norm: this.#norm(tables.norm, 'norm'),
      layers: layers.map(
        (found): EncoderLayer => ({
          query: this.#dense(found, 'query', [width, width]),
          key: this.#dense(found, 'key', [width, width]),
          value: this.#dense(found, 'value', [width, width]),
          output: this.#dense(found, 'output', [width, width]),
          attentionNorm: this.#norm(found, 'attentionNorm'),
          up: this.#dense(found, 'up', [width, inner]),
          down: this.#dense(found, 'down', [inner, width]),
          outputNorm: this.#norm(found, 'outputNorm'),
        }),
      ),
      head: head.map((step): HeadStep => {
        if ('take' in step) return step;
        const activation = step.dense['head.activation'] as 'none' | 'tanh' | 'gelu' | 'relu';
        return { dense: this.#dense(step.dense, 'head', sizesOf(step.dense, 'head')), activation };
      }),
    };
  }

  #floats(constant: Constant, count: number): Float32Array {
    const numbers = this.#reader.weights(constant);
    if (!(numbers instanceof Float32Array) || numbers.length !== count)
      throw new Unrecognised(`weight "${constant.name}" has the shape [${constant.dims.join(', ')}] where ${count} floats belong`);
    return numbers;
  }

  #norm(found: Found, name: string): Norm {
    const part = (which: string): Float32Array => this.#floats(found[`${name}.${which}`] as Constant, this.#recognised.shape.width);
    return { weight: part('weight'), bias: part('bias') };
  }

  #dense(found: Found, name: string, wanted: readonly [number, number]): Dense {
    const [inputs, outputs] = sizesOf(found, name);
    if (inputs !== wanted[0] || outputs !== wanted[1])
      throw new Unrecognised(`its ${name} goes from ${inputs} to ${outputs} columns, not from ${wanted[0]} to ${wanted[1]}`);
    const part = (which: string): Constant | undefined => found[`${name}.${which}`] as Constant | undefined;
    const [bias, plain, turned, factors] = ['bias', 'weights', 'turned', 'inputScale'].map(part);
    const all = { inputs, outputs, ...(bias ? { bias: this.#floats(bias, outputs) } : {}) };
    if (plain) return { ...all, weights: this.#floats(plain, inputs * outputs) };
    if (turned) return { ...all, weights: turnedRows(this.#floats(turned, inputs * outputs), outputs, inputs) };
    const values = this.#quantised(part('bytes')!, part('scales')!, part('zeros'), outputs);
    return { ...all, ...values, ...(factors ? { inputScale: this.#floats(factors, inputs) } : {}) };
  }

  /** Scales and zero points are one for all columns, or one for each. */
  #quantised(bytes: Constant, scales: Constant, zeros: Constant | undefined, columns: number): QuantisedValues {
    const weights = this.#reader.weights(bytes) as Int8Array | Uint8Array;
    const count = countOf(scales);
    if ((count !== 1 && count !== columns) || (zeros && countOf(zeros) !== 1 && countOf(zeros) !== count))
      throw new Unrecognised(`weight "${bytes.name}" has ${count} scales for ${columns} columns`);
    const read = zeros && Int32Array.from(this.#reader.numbers(zeros));
    const points = read?.some((point) => point !== 0) ? read : undefined;
    const zeroPoints = points && points.length < count ? new Int32Array(count).fill(points[0]!) : points;
    return { weights, scales: this.#floats(scales, count), ...(zeroPoints ? { zeroPoints } : {}) };
  }

  #words(found: Found): Float32Array | QuantisedValues {
    const table = found.table as Constant;
    if (!found.scales) return this.#floats(table, countOf(table));
    return this.#quantised(table, found.scales as Constant, found.zeros as Constant | undefined, table.dims[1]!);
  }

  /** A table of as many columns as the encoder, as floats. */
  #table(found: Found): Float32Array {
    const table = this.#words(found);
    const { width } = this.#recognised.shape;
    if ((found.table as Constant).dims[1] !== width)
      throw new Unrecognised(`table "${(found.table as Constant).name}" is not ${width} wide`);
    if (table instanceof Float32Array) return table;
    const { weights, scales, zeroPoints } = table;
    return Float32Array.from(weights, (byte) => (byte - (zeroPoints?.[0] ?? 0)) * scales[0]!);
  }
}

function addToRows(table: Float32Array, row: Float32Array): void {
  for (let at = 0; at < table.length; at += 1) table[at]! += row[at % row.length]!;
}

/** Rows as columns. */
function turnedRows(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(matrix.length);
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) out[column * rows + row] = matrix[row * columns + column]!;
  return out;
}
