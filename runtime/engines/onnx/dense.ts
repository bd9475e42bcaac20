import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';

const FILE_LIMIT_BYTES = 1024 * 1024 * 1024;
const HEADER_LIMIT_BYTES = 1024 * 1024;
const LENGTH_BYTES = 8;
const ACTIVATIONS: Readonly<Record<string, (value: number) => number>> = {
  Identity: (value) => value,
  Tanh: Math.tanh,
  ReLU: (value) => Math.max(0, value),
  Sigmoid: (value) => 1 / (1 + Math.exp(-value)),
};

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** A dense layer that sentence models have after pooling. */
export class DenseLayer {
  readonly #weight: Float32Array;
  readonly #bias: Float32Array | undefined;
  readonly #activation: (value: number) => number;
  readonly inputs: number;
  readonly outputs: number;

  /** Reads `config.json` and `model.safetensors` of the layer's folder. Throws `Failure('invalid')` that names what is missing or wrong. */
  constructor(folder: string) {
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Record<string, unknown>;
    const name = String(config.activation_function ?? 'Tanh')
      .split('.')
      .at(-1)!;
    const activation = ACTIVATIONS[name];
    if (!activation) throw fault(folder, `has the activation ${name}; known are ${Object.keys(ACTIVATIONS).join(', ')}`);
    this.#activation = activation;
    const tensors = readTensors(folder);
    const weight = tensors('linear.weight');
    if (weight?.dims.length !== 2) throw fault(folder, 'has no matrix linear.weight');
    [this.outputs, this.inputs] = weight.dims as [number, number];
    this.#weight = weight.values;
    this.#bias = tensors('linear.bias')?.values;
    if (this.#bias && this.#bias.length !== this.outputs)
      throw fault(folder, `has ${this.#bias.length} biases for ${this.outputs} outputs`);
  }

  /** The layer's answer to one vector. Throws `Failure('invalid')` for a vector of another size. */
  apply(vector: Float32Array): Float32Array {
    if (vector.length !== this.inputs)
      throw new Failure('invalid', `A dense layer of the model takes ${this.inputs} dimensions, and the graph gives ${vector.length}.`);
    return Float32Array.from({ length: this.outputs }, (_, row) => {
      let sum = this.#bias?.[row] ?? 0;
      for (let column = 0; column < this.inputs; column += 1) sum += this.#weight[row * this.inputs + column]! * vector[column]!;
      return this.#activation(sum);
    });
  }
}

function fault(folder: string, what: string, cause?: unknown): Failure {
  return new Failure('invalid', `The dense layer ${basename(folder)} ${what}.`, { code: 'InvalidModelFile', cause });
}

/** The float32 tensors of a layer's safetensors file, by name. */
function readTensors(folder: string): (name: string) => { dims: readonly number[]; values: Float32Array } | undefined {
  const path = join(folder, 'model.safetensors');
  if (!existsSync(path)) throw fault(folder, 'has no model.safetensors; other formats of weights are not read');
  if (statSync(path).size > FILE_LIMIT_BYTES) throw fault(folder, `has more than ${FILE_LIMIT_BYTES} bytes`);
  const file = readFileSync(path);
  try {
    const headerBytes = Number(file.readBigUInt64LE(0));
    if (headerBytes > Math.min(HEADER_LIMIT_BYTES, file.length - LENGTH_BYTES)) throw new RangeError('its header is longer than the file');
    const start = LENGTH_BYTES + headerBytes;
    const header = JSON.parse(file.toString('utf8', LENGTH_BYTES, start)) as Record<string, Entry | undefined>;
    return (name) => {
      const entry = header[name];
      if (!entry) return undefined;
      const [from, to] = entry.data_offsets.map((offset) => start + offset) as [number, number];
      const count = entry.shape.reduce((product, dim) => product * dim, 1);
      if (entry.dtype !== 'F32' || to - from !== 4 * count || to > file.length)
        throw fault(folder, `has ${name} as ${entry.dtype} [${entry.shape.join(', ')}]; float32 is read`);
      return { dims: entry.shape, values: new Float32Array(Uint8Array.from(file.subarray(from, to)).buffer) };
    };
  } catch (error) {
    throw error instanceof Failure ? error : fault(folder, `cannot be read: ${(error as Error).message}`, error);
  }
}
