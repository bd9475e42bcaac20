/** ggml's numbers and block shapes of the tensor types that we write. */
export const TENSOR_TYPES = {
  F32: { id: 0, blockSize: 1, blockBytes: 4 },
  F16: { id: 1, blockSize: 1, blockBytes: 2 },
  Q4_0: { id: 2, blockSize: 32, blockBytes: 18 },
  Q8_0: { id: 8, blockSize: 32, blockBytes: 34 },
} as const;

/** Name of a tensor type that we write. */
export type TensorType = keyof typeof TENSOR_TYPES;

/** Bytes that `count` values take as `type`; throws RangeError where count is not whole blocks. */
export function encodedBytes(type: TensorType, count: number): number {
  const { blockSize, blockBytes } = TENSOR_TYPES[type];
  if (count % blockSize !== 0) throw new RangeError(`${count} values are not a multiple of the ${blockSize} that a ${type} block holds`);
  return (count / blockSize) * blockBytes;
}

const floatBits = new Float32Array(1);
const floatWord = new Uint32Array(floatBits.buffer);

/** The IEEE 754 half-precision bits nearest to `value`, ties to even; beyond the range it becomes infinity. */
export function toHalf(value: number): number {
  floatBits[0] = value;
  const word = floatWord[0]!;
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude >= 0x7f800000) return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Below the smallest normal half: the value in units of 2^-24, rounded to even.
    const scaled = Math.abs(floatBits[0]!) * 2 ** 24;
    const floor = Math.floor(scaled);
    const rest = scaled - floor;
    return sign | (rest > 0.5 || (rest === 0.5 && (floor & 1) === 1) ? floor + 1 : floor);
  }
  return sign | ((magnitude - 0x38000000 + 0x0fff + ((magnitude >>> 13) & 1)) >>> 13);
}

/** The value of half-precision bits. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function encodeQ8(values: Float32Array, out: Uint8Array): void {
  let at = 0;
  for (let start = 0; start < values.length; start += 32) {
    let most = 0;
    for (let index = start; index < start + 32; index += 1) most = Math.max(most, Math.abs(values[index]!));
    const scale = toHalf(most / 127);
    const inverse = most === 0 ? 0 : 127 / most;
    out[at] = scale & 0xff;
    out[at + 1] = scale >>> 8;
    for (let index = 0; index < 32; index += 1) out[at + 2 + index] = Math.round(values[start + index]! * inverse) & 0xff;
    at += 34;
  }
}

function encodeQ4(values: Float32Array, out: Uint8Array): void {
  let at = 0;
  for (let start = 0; start < values.length; start += 32) {
    // The value of largest magnitude maps to -8 exactly, whatever its sign.
    let extreme = 0;
    for (let index = start; index < start + 32; index += 1) if (Math.abs(values[index]!) > Math.abs(extreme)) extreme = values[index]!;
    const scale = toHalf(extreme / -8);
    const inverse = extreme === 0 ? 0 : -8 / extreme;
    const level = (index: number): number => Math.min(15, Math.floor(values[start + index]! * inverse + 8.5));
    out[at] = scale & 0xff;
    out[at + 1] = scale >>> 8;
    for (let index = 0; index < 16; index += 1) out[at + 2 + index] = level(index) | (level(index + 16) << 4);
    at += 18;
  }
}

/** The bytes of `values` as ggml stores them (little-endian); the count must be whole blocks. */
export function encodeTensor(type: TensorType, values: Float32Array): Uint8Array {
  const out = new Uint8Array(encodedBytes(type, values.length));
  if (type === 'F32') {
    const view = new DataView(out.buffer);
    for (let index = 0; index < values.length; index += 1) view.setFloat32(index * 4, values[index]!, true);
  } else if (type === 'F16') {
    for (let index = 0; index < values.length; index += 1) {
      const half = toHalf(values[index]!);
      out[index * 2] = half & 0xff;
      out[index * 2 + 1] = half >>> 8;
    }
  } else if (type === 'Q8_0') encodeQ8(values, out);
  else encodeQ4(values, out);
  return out;
}
