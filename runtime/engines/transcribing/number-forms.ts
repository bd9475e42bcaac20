import { halfTable, numberToHalf } from '../onnx/float16.js';

/** Values of a block of Q8_0, and its bytes: a 16-bit float that they are multiplied with, and a byte for each. */
export const BLOCK = 32;
const BLOCK_BYTES = 34;
const MOST = 127;

/** Values in the types that CTranslate2 writes as 32-bit floats. `scales` are those of the rows of bytes, which they were multiplied with. */
export function toFloats(bytes: Buffer, type: 'f32' | 'f16' | 'bf16' | 'i8', width: number, scales?: Float32Array): Float32Array {
  const { buffer, byteOffset, length } = bytes;
  // A view needs an even beginning, which a piece of a file may lack.
  const aligned = byteOffset % 4 === 0 ? { buffer, byteOffset } : { buffer: Uint8Array.from(bytes).buffer, byteOffset: 0 };
  if (type === 'f32') return new Float32Array(aligned.buffer, aligned.byteOffset, length / 4);
  if (type === 'f16') {
    const table = halfTable();
    return Float32Array.from(new Uint16Array(aligned.buffer, aligned.byteOffset, length / 2), (half) => table[half]!);
  }
  if (type === 'bf16') {
    const whole = Uint32Array.from(new Uint16Array(aligned.buffer, aligned.byteOffset, length / 2), (half) => half << 16);
    return new Float32Array(whole.buffer);
  }
  return Float32Array.from(new Int8Array(buffer, byteOffset, length), (byte, i) => byte / scales![Math.floor(i / width)]!);
}

/** 32-bit floats in a type of ggml files; the values of Q8_0 come in whole blocks. */
export function fromFloats(floats: Float32Array, type: 'f32' | 'f16' | 'q8_0'): Buffer {
  if (type === 'f32') return Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength);
  if (type === 'f16') return Buffer.from(Uint16Array.from(floats, numberToHalf).buffer);
  const blocks = floats.length / BLOCK;
  const out = Buffer.alloc(blocks * BLOCK_BYTES);
  for (let block = 0; block < blocks; block += 1) {
    const from = block * BLOCK;
    let most = 0;
    for (let i = 0; i < BLOCK; i += 1) most = Math.max(most, Math.abs(floats[from + i]!));
    const scale = most / MOST;
    const inverse = scale === 0 ? 0 : 1 / scale;
    const at = block * BLOCK_BYTES;
    out.writeUInt16LE(numberToHalf(scale), at);
    for (let i = 0; i < BLOCK; i += 1) out.writeInt8(Math.round(floats[from + i]! * inverse), at + 2 + i);
  }
  return out;
}
