import type { Dense, EncoderLayer, EncoderWeights, HeadStep, Norm, QuantisedValues } from '../../../../../native/contract.js';
import { type Constant, ConstantReader, countOf } from '../../../onnx/constants.js';
import type { Found } from './pattern.js';
import { type Recognised, sizesOf, Unrecognised } from './recognise.js';

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
