import { readFileSync } from 'node:fs';
import { fromHalf } from '../../../models/writers/tensor-types.js';

/** A tensor as found in a file: `values` are decoded. */
export interface ReadTensor {
  readonly shape: readonly number[];
  readonly type: number;
  /** Bytes from the beginning of the file. */
  readonly offset: number;
  readonly values: Float64Array;
}

/** A whole GGUF file, read independently of the writer: metadata as plain values (64-bit integers as bigints). */
export interface ReadGguf {
  readonly version: number;
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly tensors: ReadonlyMap<string, ReadTensor>;
}

const SCALARS: Record<number, (bytes: Buffer, at: number) => [value: unknown, size: number]> = {
  0: (bytes, at) => [bytes.readUInt8(at), 1],
  1: (bytes, at) => [bytes.readInt8(at), 1],
  2: (bytes, at) => [bytes.readUInt16LE(at), 2],
  3: (bytes, at) => [bytes.readInt16LE(at), 2],
  4: (bytes, at) => [bytes.readUInt32LE(at), 4],
  5: (bytes, at) => [bytes.readInt32LE(at), 4],
  6: (bytes, at) => [bytes.readFloatLE(at), 4],
  7: (bytes, at) => [bytes.readUInt8(at) === 1, 1],
  8: (bytes, at) => {
    const length = Number(bytes.readBigUInt64LE(at));
    return [bytes.toString('utf8', at + 8, at + 8 + length), 8 + length];
  },
  10: (bytes, at) => [bytes.readBigUInt64LE(at), 8],
  11: (bytes, at) => [bytes.readBigInt64LE(at), 8],
  12: (bytes, at) => [bytes.readDoubleLE(at), 8],
};

/** Values of one block, by type number: values per block, bytes per block, decoder of value `index`. */
const BLOCKS: Record<number, [number, number, (bytes: Buffer, at: number, index: number) => number]> = {
  0: [1, 4, (bytes, at) => bytes.readFloatLE(at)],
  1: [1, 2, (bytes, at) => fromHalf(bytes.readUInt16LE(at))],
  2: [
    32,
    18,
    (bytes, at, index) => {
      const pair = bytes.readUInt8(at + 2 + (index % 16));
      return fromHalf(bytes.readUInt16LE(at)) * ((index < 16 ? pair & 15 : pair >> 4) - 8);
    },
  ],
  8: [32, 34, (bytes, at, index) => fromHalf(bytes.readUInt16LE(at)) * bytes.readInt8(at + 2 + index)],
};

class Cursor {
  at = 0;

  constructor(readonly bytes: Buffer) {}

  scalar(type: number): unknown {
    const read = SCALARS[type];
    if (read === undefined) throw new Error(`value type ${type} at byte ${this.at}`);
    const [value, size] = read(this.bytes, this.at);
    this.at += size;
    return value;
  }

  value(): unknown {
    const type = this.scalar(4) as number;
    if (type !== 9) return this.scalar(type);
    const of = this.scalar(4) as number;
    return Array.from({ length: Number(this.scalar(10)) }, () => this.scalar(of));
  }
}

function decode(bytes: Buffer, offset: number, type: number, count: number): Float64Array {
  const [blockSize, blockBytes, valueAt] = BLOCKS[type]!;
  return Float64Array.from({ length: count }, (_, index) =>
    valueAt(bytes, offset + Math.floor(index / blockSize) * blockBytes, index % blockSize),
  );
}

/** Reads a GGUF file into memory; for small files of tests, whose header is trusted. */
export function readGguf(path: string): ReadGguf {
  const cursor = new Cursor(readFileSync(path));
  if (cursor.bytes.toString('latin1', 0, 4) !== 'GGUF') throw new Error('no GGUF magic');
  cursor.at = 4;
  const version = cursor.scalar(4) as number;
  const [tensorCount, keyCount] = [Number(cursor.scalar(10)), Number(cursor.scalar(10))];
  const metadata = new Map(Array.from({ length: keyCount }, () => [cursor.scalar(8) as string, cursor.value()]));
  const table = Array.from({ length: tensorCount }, () => {
    const name = cursor.scalar(8) as string;
    const shape = Array.from({ length: cursor.scalar(4) as number }, () => Number(cursor.scalar(10)));
    return { name, shape, type: cursor.scalar(4) as number, offset: Number(cursor.scalar(10)) };
  });
  const alignment = (metadata.get('general.alignment') as number | undefined) ?? 32;
  const start = Math.ceil(cursor.at / alignment) * alignment;
  return {
    version,
    metadata,
    tensors: new Map(
      table.map(({ name, shape, type, offset }) => {
        const count = shape.reduce((product, size) => product * size, 1);
        return [name, { shape, type, offset: start + offset, values: decode(cursor.bytes, start + offset, type, count) }];
      }),
    ),
  };
}
