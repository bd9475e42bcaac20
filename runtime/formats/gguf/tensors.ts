import type { FileCursor } from './cursor.js';
import { fileFault } from './fault.js';
import type { MetadataReader } from './metadata.js';
import { TENSOR_TYPES } from './tensor-types.js';

/** Limits of the tensor table; a name of 64 bytes would end the process inside ggml. */
export const TENSOR_LIMIT = 65_536;
const NAME_BYTES_LIMIT = 63;
const DIMENSION_LIMIT = 4;
const ALIGNMENT_LIMIT = 1024 * 1024;
const DEFAULT_ALIGNMENT = 32;

/** A tensor of the table; its bytes start at `offset` of the data section. */
export interface TensorEntry {
  readonly type: string;
  readonly shape: readonly number[];
  readonly sizeBytes: number;
}

/** The tensors of a file by name. */
export type TensorTable = Map<string, TensorEntry>;

/** Checks `general.alignment`. */
export function checkAlignment(file: string, value: unknown): number {
  if (value === undefined) return DEFAULT_ALIGNMENT;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 8 || value > ALIGNMENT_LIMIT || (value & (value - 1)) !== 0) {
    throw fileFault(file, 'general.alignment', value, `a power of two from 8 to ${ALIGNMENT_LIMIT} is needed`);
  }
  return value;
}

const padded = (size: number, alignment: number): number => Math.ceil(size / alignment) * alignment;

/** Reads the tensor table and checks that the data section that follows holds every tensor, in order and without gaps, as ggml demands. */
export async function readTensors(
  file: string,
  cursor: FileCursor,
  reader: MetadataReader,
  count: number,
  alignment: number,
): Promise<TensorTable> {
  const tensors: TensorTable = new Map();
  let next = 0;
  let last = '';
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    const name = await reader.string(`name of tensor ${index + 1} of ${count}`, NAME_BYTES_LIMIT);
    if (tensors.has(name)) throw fileFault(file, `tensor ${name}`, 'given twice', 'each name may occur once');
    await cursor.need(4, `tensor ${name}`);
    const dimensions = cursor.u32();
    if (dimensions < 1 || dimensions > DIMENSION_LIMIT) {
      throw fileFault(file, `dimensions of tensor ${name}`, dimensions, `1 to ${DIMENSION_LIMIT} are allowed`);
    }
    await cursor.need(dimensions * 8 + 12, `tensor ${name}`);
    const shape = Array.from({ length: dimensions }, () => cursor.u64());
    const typeNumber = cursor.u32();
    const offset = cursor.u64();
    const entry = sized(file, name, shape, typeNumber, cursor.size);
    if (offset !== BigInt(next)) {
      const rule =
        offset % BigInt(alignment) === 0n ? `it must be ${next}, where the tensor before ends` : `it must be a multiple of ${alignment}`;
      throw fileFault(file, `offset of tensor ${name}`, offset, rule);
    }
    end = next + entry.sizeBytes;
    next = padded(end, alignment);
    last = name;
    tensors.set(name, entry);
  }
  const start = padded(cursor.position, alignment);
  if (start + end > cursor.size) {
    throw fileFault(
      file,
      `tensor ${last}`,
      `${end} bytes of data from offset ${start}`,
      `the file has only ${cursor.size} bytes; it is incomplete`,
    );
  }
  return tensors;
}

function sized(file: string, name: string, shape: bigint[], typeNumber: number, fileSize: number): TensorEntry {
  const type = TENSOR_TYPES.get(typeNumber);
  if (!type) throw fileFault(file, `type of tensor ${name}`, typeNumber, 'no such tensor type is known');
  // Exact in BigInt whatever the sizes claim; only a product that fits the file becomes a number.
  const values = shape.reduce((product, size) => product * size, 1n);
  if (values === 0n) throw fileFault(file, `shape of tensor ${name}`, shape.join(' x '), 'no dimension may be 0');
  if (shape[0]! % BigInt(type.values) !== 0n) {
    throw fileFault(file, `shape of tensor ${name}`, shape.join(' x '), `rows of ${type.name} are multiples of ${type.values}`);
  }
  const size = (values / BigInt(type.values)) * BigInt(type.bytes);
  if (size > BigInt(fileSize)) {
    throw fileFault(
      file,
      `shape of tensor ${name}`,
      shape.join(' x '),
      `as ${type.name} it needs ${size} bytes and the file has ${fileSize}`,
    );
  }
  return { type: type.name, shape: shape.map(Number), sizeBytes: Number(size) };
}
