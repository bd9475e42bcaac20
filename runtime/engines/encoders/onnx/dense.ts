import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '../../../../schemas/errors.js';
import { type Json, readJsonFile, wrongFile } from '../../../formats/model-files.js';

const FILE_LIMIT_BYTES = 1024 * 1024 * 1024;
const HEADER_LIMIT_BYTES = 1024 * 1024;
const LENGTH_BYTES = 8;
const FLOAT_BYTES = 4;
const ACTIVATIONS: Readonly<Record<string, (value: number) => number>> = {
  Identity: (value) => value,
  Tanh: Math.tanh,
  ReLU: (value) => Math.max(0, value),
  Sigmoid: (value) => 1 / (1 + Math.exp(-value)),
};

interface TensorValues {
  readonly dims: readonly number[];
  readonly values: Float32Array;
}

/** Makes the `Failure('invalid')` of a file; `what` follows its name. */
type Wrong = (what: string, cause?: unknown) => Failure;

/** A tensor of a file by its name; undefined where there is none. */
type Tensors = (name: string) => TensorValues | undefined;

/** What is added to a row of a layer's answer. */
type Residual = (row: number, vector: Float32Array) => number;

/** A dense layer that sentence models have after pooling. */
export class DenseLayer {
  readonly #weight: Float32Array;
  readonly #bias: Float32Array | undefined;
  readonly #activation: (value: number) => number;
  readonly #residual: Residual | undefined;
  readonly outputs: number;

  /**
   * Reads `config.json` and `model.safetensors` of the layer's folder in the model's; `width` is that of the vectors before it. Throws
   * `Failure('invalid')` that names what is missing or wrong.
   */
  constructor(folder: string, layer: string, width: number) {
    const settings = join(layer, 'config.json');
    const config = readJsonFile(folder, settings);
    if (!config) throw wrongFile(folder, settings, 'is missing');
    this.#activation = activationOf(config, (what) => wrongFile(folder, settings, what));
    const file = join(layer, 'model.safetensors');
    const wrong: Wrong = (what, cause) => wrongFile(folder, file, what, cause);
    const tensors = readTensors(join(folder, file), wrong);
    const weight = tensors('linear.weight');
    if (weight?.dims.length !== 2) throw wrong('has no matrix linear.weight');
    const [outputs, inputs] = weight.dims as [number, number];
    this.outputs = outputs;
    if (inputs !== width) throw wrong(`takes vectors of ${inputs} dimensions, and those before it have ${width}`);
    this.#weight = weight.values;
    this.#bias = tensors('linear.bias')?.values;
    if (this.#bias && this.#bias.length !== this.outputs) throw wrong(`has ${this.#bias.length} biases for ${this.outputs} outputs`);
    if (config.use_residual === true) this.#residual = residualOf(weight.dims, tensors, wrong);
  }

  /** The layer's answer to one vector of the width that it was made for. */
  apply(vector: Float32Array): Float32Array {
    return Float32Array.from({ length: this.outputs }, (_, row) => {
      const sum = (this.#bias?.[row] ?? 0) + product(this.#weight, row, vector);
      return this.#activation(sum) + (this.#residual?.(row, vector) ?? 0);
    });
  }
}

/** A row of a matrix times a vector. */
function product(matrix: Float32Array, row: number, vector: Float32Array): number {
  const start = row * vector.length;
  let sum = 0;
  for (let column = 0; column < vector.length; column += 1) sum += matrix[start + column]! * vector[column]!;
  return sum;
}

/** What goes past a layer of these dimensions: the vector itself, or through a matrix of its own where the layer changes its width. */
function residualOf([outputs, inputs]: readonly number[], tensors: Tensors, wrong: Wrong): Residual {
  if (outputs === inputs) return (row, vector) => vector[row]!;
  const matrix = tensors('residual.weight');
  if (matrix?.dims.length !== 2 || matrix.dims[0] !== outputs || matrix.dims[1] !== inputs)
    throw wrong(`has no matrix residual.weight of ${outputs} times ${inputs}`);
  return (row, vector) => product(matrix.values, row, vector);
}

function activationOf({ activation_function }: Json, wrong: Wrong): (value: number) => number {
  const name = String(activation_function ?? 'Tanh')
    .split('.')
    .at(-1)!;
  if (Object.hasOwn(ACTIVATIONS, name)) return ACTIVATIONS[name]!;
  throw wrong(`has the activation ${name}; known are ${Object.keys(ACTIVATIONS).join(', ')}`);
}

/** The float32 tensors of a safetensors file, by name. */
function readTensors(path: string, wrong: Wrong): Tensors {
  const file = readWeights(path, wrong);
  const { entries, start } = headerOf(file, wrong);
  return (name) => {
    if (!Object.hasOwn(entries, name)) return undefined;
    const { dtype, shape, data_offsets } = (entries[name] ?? {}) as Json;
    const dims = sizes(shape);
    const [from = 0, to = 0] = sizes(data_offsets);
    const bytes = FLOAT_BYTES * dims.reduce((product, dim) => product * dim, 1);
    if (dtype !== 'F32' || to - from !== bytes || start + to > file.length)
      throw wrong(`has ${name} as ${String(dtype)} [${dims.join(', ')}] in bytes ${from} to ${to}; float32 is read`);
    return { dims, values: new Float32Array(Uint8Array.from(file.subarray(start + from, start + to)).buffer) };
  };
}

function readWeights(path: string, wrong: Wrong): Buffer {
  if (!existsSync(path)) throw wrong('is missing; other formats of weights are not read');
  if (statSync(path).size > FILE_LIMIT_BYTES) throw wrong(`has more than ${FILE_LIMIT_BYTES} bytes`);
  try {
    return readFileSync(path);
  } catch (error) {
    throw wrong('cannot be read', error);
  }
}

/** The entries of a safetensors file, and where the bytes begin that they count from. */
function headerOf(file: Buffer, wrong: Wrong): { readonly entries: Json; readonly start: number } {
  const headerBytes = file.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : Number(file.readBigUInt64LE(0));
  const start = LENGTH_BYTES + headerBytes;
  if (headerBytes > HEADER_LIMIT_BYTES || start > file.length)
    throw wrong(`has a header that is longer than the file or ${HEADER_LIMIT_BYTES} bytes`);
  let entries: unknown;
  try {
    entries = JSON.parse(file.toString('utf8', LENGTH_BYTES, start));
  } catch (error) {
    throw wrong('has a header that is not JSON', error);
  }
  if (typeof entries !== 'object' || entries === null) throw wrong('has a header that is no object');
  return { entries: entries as Json, start };
}

/** A list of sizes as it is; none where it is something else. */
function sizes(value: unknown): readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0) ? (value as number[]) : [];
}
