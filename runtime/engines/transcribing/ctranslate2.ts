import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import { halfTable, numberToHalf } from '../onnx/float16.js';

/** Versions of the file format that are read. */
const VERSIONS = [5, 6];
const SPECIFICATION = 'WhisperSpec';
const VARIABLE_LIMIT = 8192;
const NAME_LIMIT = 512;
const RANK_LIMIT = 4;
/** By CTranslate2's number: bytes of a value, and what it is here. */
const TYPES = [
  { name: 'f32', bytes: 4 },
  { name: 'i8', bytes: 1 },
  { name: 'i16', bytes: 2 },
  { name: 'i32', bytes: 4 },
  { name: 'f16', bytes: 2 },
  { name: 'bf16', bytes: 2 },
] as const;
const WINDOW = 64 * 1024;

/** A tensor of a CTranslate2 file. */
export interface Variable {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: (typeof TYPES)[number]['name'];
  /** Of a value. */
  readonly valueBytes: number;
  /** Where its values lie in the file. */
  readonly offset: number;
  readonly sizeBytes: number;
}

/** The 422 of a file that is not what it should be. */
export const badModel = (what: string): Failure =>
  new Failure('invalid', `model.bin is not a usable CTranslate2 model of Whisper: ${what}. Get the file again from its source.`, {
    code: 'InvalidModelFile',
  });

/** Reads small values one after the other, through a window that moves over the file. */
class Cursor {
  readonly #file: FileHandle;
  readonly sizeBytes: number;
  #at = 0;
  #window = Buffer.alloc(0);
  #windowAt = 0;

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  get at(): number {
    return this.#at;
  }

  async take(bytes: number, what: string): Promise<Buffer> {
    if (this.#at + bytes > this.sizeBytes) throw badModel(`it ends at byte ${this.sizeBytes}, within ${what}`);
    const from = this.#at - this.#windowAt;
    if (from < 0 || from + bytes > this.#window.length) {
      const window = Buffer.alloc(Math.min(WINDOW, this.sizeBytes - this.#at));
      const { bytesRead } = await this.#file.read(window, 0, window.length, this.#at);
      if (bytesRead < bytes) throw badModel(`it ends within ${what}`);
      this.#window = window.subarray(0, bytesRead);
      this.#windowAt = this.#at;
    }
    const start = this.#at - this.#windowAt;
    this.#at += bytes;
    return this.#window.subarray(start, start + bytes);
  }

  skip(bytes: number, what: string): void {
    if (bytes > this.sizeBytes - this.#at)
      throw badModel(`it ends at byte ${this.sizeBytes}, and ${what} would need ${bytes} bytes from byte ${this.#at} on`);
    this.#at += bytes;
  }

  async u8(what: string): Promise<number> {
    return (await this.take(1, what)).readUInt8(0);
  }

  async u32(what: string): Promise<number> {
    return (await this.take(4, what)).readUInt32LE(0);
  }

  /** A text with a zero byte at its end, which its length counts. */
  async text(what: string): Promise<string> {
    const length = (await this.take(2, what)).readUInt16LE(0);
    if (length === 0 || length > NAME_LIMIT) throw badModel(`the length of ${what} is ${length}; allowed is 1 to ${NAME_LIMIT}`);
    return (await this.take(length, what)).toString('latin1', 0, length - 1);
  }
}

async function variable(cursor: Cursor): Promise<Variable> {
  const name = await cursor.text('the name of a variable');
  const rank = await cursor.u8(`the rank of ${name}`);
  if (rank > RANK_LIMIT) throw badModel(`the rank of ${name} is ${rank}; allowed is 0 to ${RANK_LIMIT}`);
  const shape: number[] = [];
  for (let i = 0; i < rank; i += 1) shape.push(await cursor.u32(`the shape of ${name}`));
  const number = await cursor.u8(`the type of ${name}`);
  const type = TYPES[number];
  if (!type) throw badModel(`the type of ${name} is ${number}; allowed is 0 to ${TYPES.length - 1}`);
  const sizeBytes = await cursor.u32(`the size of ${name}`);
  const expected = shape.reduce((product, length) => product * length, type.bytes);
  if (sizeBytes !== expected) throw badModel(`the size of ${name} is ${sizeBytes}; its shape [${shape}] needs ${expected}`);
  const offset = cursor.at;
  cursor.skip(sizeBytes, name);
  return { name, shape, type: type.name, valueBytes: type.bytes, offset, sizeBytes };
}

/** The variables of an open CTranslate2 file by their names; no weight is read. Throws `invalid` that names what is wrong. */
async function readVariables(file: FileHandle): Promise<Map<string, Variable>> {
  const cursor = new Cursor(file, (await file.stat()).size);
  const version = await cursor.u32('its version');
  if (!VERSIONS.includes(version)) throw badModel(`its version is ${version}; ${VERSIONS.join(' and ')} are read`);
  const specification = await cursor.text('its specification');
  if (specification !== SPECIFICATION) throw badModel(`it is made for ${JSON.stringify(specification)}, not for ${SPECIFICATION}`);
  await cursor.u32('its revision');
  const count = await cursor.u32('the number of variables');
  if (count > VARIABLE_LIMIT) throw badModel(`it has ${count} variables; at most ${VARIABLE_LIMIT} are read`);
  const variables = new Map<string, Variable>();
  for (let i = 0; i < count; i += 1) {
    const read = await variable(cursor);
    if (variables.has(read.name)) throw badModel(`${read.name} is there twice`);
    variables.set(read.name, read);
  }
  const aliases = await cursor.u32('the number of aliases');
  if (aliases > VARIABLE_LIMIT) throw badModel(`it has ${aliases} aliases; at most ${VARIABLE_LIMIT} are read`);
  for (let i = 0; i < aliases; i += 1) {
    const name = await cursor.text('an alias');
    const target = variables.get(await cursor.text(`what ${name} stands for`));
    if (target && !variables.has(name)) variables.set(name, target);
  }
  return variables;
}

/** Opens a CTranslate2 file for `use` and closes it afterwards. */
export async function withVariables<T>(
  path: string,
  use: (file: FileHandle, variables: ReadonlyMap<string, Variable>) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r');
  try {
    return await use(file, await readVariables(file));
  } finally {
    await file.close();
  }
}

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
