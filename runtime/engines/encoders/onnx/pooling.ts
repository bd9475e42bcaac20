import { Failure } from '../../../../schemas/errors.js';
import type { Pooling } from '../../contracts/encoder.js';
import type { Tensor } from '../../onnx/contract.js';
import { float32Of } from '../../onnx/float16.js';

/** What torch's `normalize` divides by at least. */
const LEAST_LENGTH = 1e-12;

/** The vectors of one row of a batch: [tokens, dimensions], padding left out. */
export interface RowStates {
  readonly values: Float32Array;
  readonly tokens: number;
  readonly dimensions: number;
}

/** The part of a row in an output of shape [batch, length, dimensions], its first `tokens` tokens; or of [batch, dimensions], as one token. */
export function rowStates(output: Tensor, index: number, tokens: number): RowStates {
  const [, second, third] = output.dims;
  const all = float32Of(output);
  if (output.dims.length === 2) return { values: all.subarray(index * second!, (index + 1) * second!), tokens: 1, dimensions: second! };
  const start = index * second! * third!;
  return { values: all.subarray(start, start + tokens * third!), tokens, dimensions: third! };
}

/** One vector of a text's token vectors. */
export function poolStates({ values, tokens, dimensions }: RowStates, pooling: Pooling): Float32Array {
  if (pooling === 'cls' || tokens === 1) return values.slice(0, dimensions);
  if (pooling === 'last') return values.slice((tokens - 1) * dimensions, tokens * dimensions);
  const out = new Float32Array(dimensions);
  if (pooling === 'max') {
    out.set(values.subarray(0, dimensions));
    for (let at = dimensions; at < values.length; at += 1) out[at % dimensions] = Math.max(out[at % dimensions]!, values[at]!);
    return out;
  }
  let weights = 0;
  for (let token = 0; token < tokens; token += 1) {
    const weight = pooling === 'weighted' ? token + 1 : 1;
    weights += weight;
    const start = token * dimensions;
    for (let column = 0; column < dimensions; column += 1) out[column]! += weight * values[start + column]!;
  }
  if (pooling === 'mean_sqrt') weights = Math.sqrt(weights);
  return out.map((sum) => sum / weights);
}

function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (const component of vector) sum += component * component;
  return Math.sqrt(sum);
}

/** A vector at length 1 on its way to more layers; nothing comes of nothing, as in torch's `normalize`. */
export function unitVector(vector: Float32Array): Float32Array {
  const length = Math.max(lengthOf(vector), LEAST_LENGTH);
  return vector.map((component) => component / length);
}

/** Brings a vector to length 1 in place. Throws `model_failed` that names the model for one that has no direction or is not finite. */
export function normalise(vector: Float32Array, model: string): Float32Array {
  const length = lengthOf(vector);
  if (!Number.isFinite(length) || length === 0) throw damagedModel(model, 'a vector that is zero or not finite');
  for (let index = 0; index < vector.length; index += 1) vector[index] = vector[index]! / length;
  return vector;
}

/** The same logits. Throws `model_failed` that names the model where one is no finite number. */
export function requireFinite(logits: Float32Array, model: string): Float32Array {
  if (!logits.every(Number.isFinite)) throw damagedModel(model, 'scores that are not finite');
  return logits;
}

function damagedModel(model: string, what: string): Failure {
  return new Failure(
    'model_failed',
    `Model "${model}" gave ${what}: its weights are damaged, or their number format is too narrow for this text.`,
  );
}
