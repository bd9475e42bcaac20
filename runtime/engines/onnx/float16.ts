import { Failure } from '../../../schemas/errors.js';
import { once } from '../../base/once.js';
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

/** The value of each 16-bit float by its bits, made at the first use: for those who turn millions. */
export const halfTable = once((): Float32Array => Float32Array.from({ length: 2 ** 16 }, (_none, bits) => halfToNumber(bits)));

const bits = new Uint32Array(1);
const value = new Float32Array(bits.buffer);

/** The bits of the nearest 16-bit float, ties to even; beyond its range infinity. */
export function numberToHalf(number: number): number {
  value[0] = number;
  const all = bits[0]!;
  const sign = (all >>> 16) & 0x8000;
  const magnitude = all & 0x7fffffff;
  if (magnitude >= 0x47800000) return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
  if (magnitude < 0x38800000) {
    // Below the normal ones: whole steps of 2^-24, which the addition rounds.
    value[0] = Math.abs(number) + 0.5;
    return sign | (bits[0]! - 0x3f000000);
  }
  const rounded = magnitude + 0x0fff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
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

/** Floats as an input takes them: 32 bits, or rounded to 16. */
export const floatTensor = (type: string, dims: readonly number[], values: Float32Array): Tensor =>
  type === 'float16' ? { type, dims, data: Uint16Array.from(values, numberToHalf) } : { type: 'float32', dims, data: values };
