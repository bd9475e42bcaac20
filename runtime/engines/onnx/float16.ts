import { Failure } from '../../../schemas/errors.js';
import type { Tensor } from './contract.js';

const SIGN = 0x8000;
const EXPONENT_BITS = 10;
const EXPONENT = 0x1f;
const FRACTION = 0x3ff;
const BIAS = 15;

/** The number behind the bits of a 16-bit float. */
export function halfToNumber(bits: number): number {
  const sign = bits & SIGN ? -1 : 1;
  const exponent = (bits >> EXPONENT_BITS) & EXPONENT;
  const fraction = bits & FRACTION;
  if (exponent === EXPONENT) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - BIAS - EXPONENT_BITS);
  return sign * (1 + fraction / 2 ** EXPONENT_BITS) * 2 ** (exponent - BIAS);
}

const read = new WeakMap<Tensor, Float32Array>();

/** The values of a float tensor; those of 16 bits are read once. Throws `Failure('invalid')` for other types. */
export function float32Of(tensor: Tensor): Float32Array {
  if (tensor.data instanceof Float32Array) return tensor.data;
  if (!(tensor.type === 'float16' && tensor.data instanceof Uint16Array))
    throw new Failure('invalid', `The model answers with ${tensor.type} where floats are expected; it is no encoder.`, {
      code: 'InvalidModelFile',
    });
  const known = read.get(tensor);
  if (known) return known;
  const values = Float32Array.from(tensor.data, halfToNumber);
  read.set(tensor, values);
  return values;
}
