import { Failure } from '../../../schemas/errors.js';
import type { OnnxSession, Tensor, TensorType } from '../onnx/contract.js';
import { float32Of, numberToHalf } from '../onnx/float16.js';

/** Values as the input of a graph takes them, whatever its number format. */
export function tensorFor(session: OnnxSession, name: string, dims: readonly number[], values: Float32Array | readonly number[]): Tensor {
  const slot = session.inputs.find((input) => input.name === name);
  const type = (slot?.type ?? 'float32') as TensorType;
  switch (type) {
    case 'float16':
      return { type, dims, data: Uint16Array.from(values, numberToHalf) };
    case 'int64':
      return { type, dims, data: BigInt64Array.from(values as readonly number[], (value) => BigInt(Math.round(value))) };
    case 'int32':
      return { type, dims, data: Int32Array.from(values, Math.round) };
    default:
      return { type: 'float32', dims, data: Float32Array.from(values) };
  }
}

/** The floats of an output with as many values as its shape needs, all of them numbers; throws `model_failed` naming it otherwise. */
export function valuesOf(
  outputs: Readonly<Record<string, Tensor>>,
  name: string,
  what: string,
): { dims: readonly number[]; values: Float32Array } {
  const tensor = outputs[name];
  if (!tensor)
    throw new Failure(
      'invalid',
      `The ${what} has no output "${name}", so it is not part of an image model; get the model again from its repository.`,
      { code: 'InvalidModelFile' },
    );
  const values = float32Of(tensor);
  if (!Number.isFinite(values[0] ?? 0))
    throw new Failure('model_failed', `The ${what} gave values that are not finite numbers; try fewer steps or lower guidance.`);
  return { dims: tensor.dims, values };
}
