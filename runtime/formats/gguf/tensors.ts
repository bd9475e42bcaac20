import { type FileCursor, fileFault } from './cursor.js';
import type { MetadataReader } from './metadata.js';

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

/** A ggml tensor type: values per block and bytes per block. */
interface TensorTypeShape {
  readonly name: string;
  readonly values: number;
  readonly bytes: number;
}

const shape = (name: string, values: number, bytes: number): TensorTypeShape => ({ name, values, bytes });

/** Every tensor type of the pinned ggml by its number; numbers that are missing were removed from the format. Sizes: ggml-common.h. */
const TENSOR_TYPES: ReadonlyMap<number, TensorTypeShape> = new Map([
  [0, shape('F32', 1, 4)],
  [1, shape('F16', 1, 2)],
  [2, shape('Q4_0', 32, 18)],
  [3, shape('Q4_1', 32, 20)],
  [6, shape('Q5_0', 32, 22)],
  [7, shape('Q5_1', 32, 24)],
  [8, shape('Q8_0', 32, 34)],
  [9, shape('Q8_1', 32, 36)],
  [10, shape('Q2_K', 256, 84)],
  [11, shape('Q3_K', 256, 110)],
  [12, shape('Q4_K', 256, 144)],
  [13, shape('Q5_K', 256, 176)],
  [14, shape('Q6_K', 256, 210)],
  [15, shape('Q8_K', 256, 292)],
  [16, shape('IQ2_XXS', 256, 66)],
  [17, shape('IQ2_XS', 256, 74)],
  [18, shape('IQ3_XXS', 256, 98)],
  [19, shape('IQ1_S', 256, 50)],
  [20, shape('IQ4_NL', 32, 18)],
  [21, shape('IQ3_S', 256, 110)],
  [22, shape('IQ2_S', 256, 82)],
  [23, shape('IQ4_XS', 256, 136)],
  [24, shape('I8', 1, 1)],
  [25, shape('I16', 1, 2)],
  [26, shape('I32', 1, 4)],
  [27, shape('I64', 1, 8)],
  [28, shape('F64', 1, 8)],
  [29, shape('IQ1_M', 256, 56)],
  [30, shape('BF16', 1, 2)],
  [34, shape('TQ1_0', 256, 54)],
  [35, shape('TQ2_0', 256, 66)],
  [39, shape('MXFP4', 32, 17)],
  [40, shape('NVFP4', 64, 36)],
  [41, shape('Q1_0', 128, 18)],
  [42, shape('Q2_0', 64, 18)],
]);
