import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encodeString, encodeU32, encodeU64, encodeValue, type GgufMetadata, u32 } from './gguf-values.js';
import { encodedBytes, encodeTensor, TENSOR_TYPES, type TensorType } from './tensor-types.js';

/** A tensor to be written: `shape` in ggml's order, the row length first. */
export interface TensorSource {
  readonly name: string;
  readonly type: TensorType;
  readonly shape: readonly number[];
  /** All values row by row, or a function that fills the values from `offset` on; it is called once per chunk, in order. */
  readonly values: Float32Array | ((chunk: Float32Array, offset: number) => void);
}

/** A whole GGUF file. */
export interface GgufFile {
  /** `general.alignment` is added where it is not 32. */
  readonly metadata: GgufMetadata;
  readonly tensors: readonly TensorSource[];
  /** A power of two from 8 on; 32 where not given. */
  readonly alignment?: number;
}

/** The GGUF version that we write. */
export const GGUF_VERSION = 3;

const DEFAULT_ALIGNMENT = 32;
/** Values encoded at a time: bounds the memory (4 MB of floats) and is a multiple of every block size. */
const CHUNK_VALUES = 1 << 20;

const padding = (size: number, alignment: number): number => (alignment - (size % alignment)) % alignment;
const valueCount = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** Magic, version, counts, metadata and tensor table, padded so that tensor bytes may follow. */
export function encodeHeader(file: GgufFile): Buffer {
  const alignment = file.alignment ?? DEFAULT_ALIGNMENT;
  const metadata: GgufMetadata =
    alignment === DEFAULT_ALIGNMENT ? file.metadata : [...file.metadata, ['general.alignment', u32(alignment)]];
  const parts = [Buffer.from('GGUF'), encodeU32(GGUF_VERSION), encodeU64(file.tensors.length), encodeU64(metadata.length)];
  for (const [key, value] of metadata) parts.push(encodeString(key), encodeValue(value));
  let offset = 0;
  for (const { name, type, shape } of file.tensors) {
    parts.push(encodeString(name), encodeU32(shape.length), ...shape.map(encodeU64), encodeU32(TENSOR_TYPES[type].id), encodeU64(offset));
    const size = encodedBytes(type, valueCount(shape));
    offset += size + padding(size, alignment);
  }
  const header = Buffer.concat(parts);
  return Buffer.concat([header, Buffer.alloc(padding(header.length, alignment))]);
}

function writeTensor(file: number, tensor: TensorSource, alignment: number): void {
  const count = valueCount(tensor.shape);
  if (typeof tensor.values !== 'function' && tensor.values.length !== count)
    throw new RangeError(`tensor ${tensor.name} has ${tensor.values.length} values, its shape ${tensor.shape.join('x')} needs ${count}`);
  const chunk = new Float32Array(Math.min(CHUNK_VALUES, count));
  for (let offset = 0; offset < count; offset += CHUNK_VALUES) {
    const length = Math.min(CHUNK_VALUES, count - offset);
    const part = typeof tensor.values === 'function' ? chunk.subarray(0, length) : tensor.values.subarray(offset, offset + length);
    if (typeof tensor.values === 'function') tensor.values(part, offset);
    writeFileSync(file, encodeTensor(tensor.type, part));
  }
  writeFileSync(file, Buffer.alloc(padding(encodedBytes(tensor.type, count), alignment)));
}

/** Writes a GGUF v3 file in one pass, tensor by tensor; memory stays at one chunk. Sync: for build steps and tests only. */
export function writeGguf(path: string, contents: GgufFile): void {
  const file = openSync(path, 'w');
  try {
    writeFileSync(file, encodeHeader(contents));
    for (const tensor of contents.tensors) writeTensor(file, tensor, contents.alignment ?? DEFAULT_ALIGNMENT);
  } finally {
    closeSync(file);
  }
}

function newestCodeMs(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  return Math.max(...files.map((name) => statSync(join(folder, name)).mtimeMs));
}

/**
 * Writes a generated GGUF file where it is missing or older than the compiled code in `codeFolders`; true where it was
 * written. It is written under a temporary name of this process and renamed: the final name always holds a whole file,
 * also when several processes write it at once, and a file in use stays as it was for its user.
 */
export function ensureGguf(path: string, codeFolders: readonly string[], make: () => GgufFile): boolean {
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (writtenMs > Math.max(...codeFolders.map(newestCodeMs))) return false;
  const unfinished = `${path}.${process.pid}.part`;
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeGguf(unfinished, make());
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return true;
}
