import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { readEntry } from '../../formats/onnx/graph-file.js';
import type { ProtoField, ProtoFile } from '../../formats/onnx/protobuf.js';
import { halfTable } from './float16.js';

const NAME_LIMIT = 4096;
const RANK_LIMIT = 64;
/** Numbers that are not raw; exporters write only small constants so. */
const LISTED_LIMIT = 2 ** 16;
/** Fields of a tensor in onnx.proto. */
const TENSOR = { dims: 1, type: 2, floats: 4, int32s: 5, int64s: 7, name: 8, raw: 9, external: 13, location: 14 };
const EXTERNAL = 1;

type Bytes = Uint8Array<ArrayBuffer>;
type Numbers = Float32Array | Int8Array | Uint8Array;

/** Element types that are read, by their numbers in onnx.proto. */
const ELEMENTS: Readonly<
  Record<number, { readonly bytes: number; read(bytes: Bytes): ArrayLike<number>; of(values: readonly number[]): ArrayLike<number> }>
> = {
  1: { bytes: 4, read: ({ buffer }) => new Float32Array(buffer), of: (values) => Float32Array.from(values) },
  2: { bytes: 1, read: (bytes) => bytes, of: (values) => Uint8Array.from(values) },
  3: { bytes: 1, read: ({ buffer }) => new Int8Array(buffer), of: (values) => Int8Array.from(values) },
  6: { bytes: 4, read: ({ buffer }) => new Int32Array(buffer), of: (values) => values },
  7: { bytes: 8, read: ({ buffer }) => Array.from(new BigInt64Array(buffer), Number), of: (values) => values },
  9: { bytes: 1, read: (bytes) => bytes, of: (values) => values },
  10: { bytes: 2, read: ({ buffer }) => halves(new Uint16Array(buffer)), of: (values) => halves(values) },
  11: { bytes: 8, read: ({ buffer }) => new Float64Array(buffer), of: (values) => values },
};

/** 16-bit floats by a table of them all: matrices have millions. */
function halves(bits: ArrayLike<number>): Float32Array {
  const halfValues = halfTable();
  const out = new Float32Array(bits.length);
  for (let at = 0; at < bits.length; at += 1) out[at] = halfValues[bits[at]!]!;
  return out;
}

/** A constant of a graph; its numbers are read when somebody asks. */
export interface Constant {
  readonly name: string;
  /** Number of the element type in onnx.proto. */
  readonly element: number;
  readonly dims: readonly number[];
  /** Numbers that were listed one by one. */
  readonly listed: readonly number[];
  /** Where the others lie: in the graph's file, or in one beside it. */
  readonly place: { readonly file: string | undefined; readonly start: number } | undefined;
}

/** Reads what a tensor's message says of it, numbers left where they lie. */
export function readConstant(file: ProtoFile, field: ProtoField): Constant {
  const dims: number[] = [];
  const listed: number[] = [];
  const entries = new Map<string, string>();
  let element = 0;
  let name = '';
  let raw: number | undefined;
  let isExternal = false;
  for (const part of file.fields(field.start, field.end)) {
    if (part.number === TENSOR.dims) dims.push(...file.integers(part, RANK_LIMIT));
    else if (part.number === TENSOR.type) element = part.value;
    else if (part.number === TENSOR.name) name = file.text(part, NAME_LIMIT);
    else if (part.number === TENSOR.raw) raw = part.start;
    else if (part.number === TENSOR.floats) listed.push(...floatsOf(file, part));
    else if (part.number === TENSOR.int32s || part.number === TENSOR.int64s) listed.push(...file.signedIntegers(part, LISTED_LIMIT));
    else if (part.number === TENSOR.location) isExternal = part.value === EXTERNAL;
    else if (part.number === TENSOR.external) {
      entries.set(...readEntry(file, part));
    }
  }
  const outside = { file: entries.get('location') ?? '', start: Number(entries.get('offset') ?? 0) };
  return { name, element, dims, listed, place: isExternal ? outside : raw === undefined ? undefined : { file: undefined, start: raw } };
}

function floatsOf(file: ProtoFile, field: ProtoField): number[] {
  const bytes = file.bytes(field, 4 * LISTED_LIMIT);
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at));
}

/** How many numbers a constant has. */
export const countOf = ({ dims }: Pick<Constant, 'dims'>): number => dims.reduce((product, dim) => product * dim, 1);

/**
 * Reads the numbers of constants of one graph, which `inspectGraph` has checked, so that other files are in its folder and long enough. Floats of
 * 16 bits come as 32, integers of 64 as numbers. Throws RangeError for other elements, and where the numbers do not fill the shape.
 */
export class ConstantReader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  numbers(constant: Constant): ArrayLike<number> {
    const { name, element, dims, listed, place } = constant;
    const type = ELEMENTS[element];
    if (!type) throw new RangeError(`constant "${name}" has elements of the type ${element}`);
    const count = countOf({ dims });
    if (place) return type.read(this.#bytes(place.file, place.start, count * type.bytes));
    if (listed.length !== count) throw new RangeError(`constant "${name}" has ${listed.length} numbers for the shape [${dims.join(', ')}]`);
    return type.of(listed);
  }

  /** The numbers of a weight. Throws RangeError where they are neither floats nor bytes. */
  weights(constant: Constant): Numbers {
    const numbers = this.numbers(constant);
    if (numbers instanceof Float32Array || numbers instanceof Int8Array || numbers instanceof Uint8Array) return numbers;
    throw new RangeError(`weight "${constant.name}" has elements of the type ${constant.element}`);
  }

  #bytes(file: string | undefined, start: number, size: number): Bytes {
    const path = file === undefined ? this.#path : join(dirname(this.#path), normalize(file));
    const descriptor = openSync(path, 'r');
    try {
      const bytes = new Uint8Array(size);
      let at = 0;
      while (at < size) {
        const count = readSync(descriptor, bytes, at, Math.min(size - at, 2 ** 30), start + at);
        if (count === 0) throw new RangeError('the file ends inside a weight');
        at += count;
      }
      return bytes;
    } finally {
      closeSync(descriptor);
    }
  }
}
