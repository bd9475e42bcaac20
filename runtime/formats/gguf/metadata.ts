import { type FileCursor, fileFault } from './cursor.js';

/** Limits of a header; a real one has some 50 keys, a vocabulary of up to 260,000 tokens and twice as many merges. */
export const KEY_LIMIT = 4096;
const KEY_BYTES_LIMIT = 1024;
const STRING_BYTES_LIMIT = 4 * 1024 * 1024;
const ARRAY_LIMIT = 4 * 1024 * 1024;
/** Bytes of all metadata together. */
const METADATA_BYTES_LIMIT = 512 * 1024 * 1024;
/** Arrays of up to this many values are kept; of longer ones only those of `KEPT_ARRAYS`. */
const KEPT_LENGTH = 1024;
const KEPT_ARRAYS: ReadonlySet<string> = new Set(['tokenizer.ggml.tokens', 'tokenizer.ggml.token_type']);
/** Its texts are kept byte by byte (latin1): tokens need not be whole UTF-8, and two may differ only in such bytes. */
const TOKENS_KEY = 'tokenizer.ggml.tokens';

const STRING = 8;
const ARRAY = 9;
const BOOL = 7;
const TYPE_NAMES = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'bool', 'string', 'array', 'u64', 'i64', 'f64'];
const WIDTHS = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/** One metadata value; 64-bit integers are rounded to the nearest number, which no field of use ever needs. */
export type MetaScalar = number | string | boolean;

/** An array of the metadata; `values` is absent where it was too long to keep. */
export interface MetaArray {
  readonly of: string;
  readonly length: number;
  readonly values?: MetaScalar[];
}

/** The metadata of a file by key. */
export type Metadata = Map<string, MetaScalar | MetaArray>;

function number(bytes: Buffer, type: number): number | boolean {
  switch (type) {
    case 0:
      return bytes.readUInt8();
    case 1:
      return bytes.readInt8();
    case 2:
      return bytes.readUInt16LE();
    case 3:
      return bytes.readInt16LE();
    case 4:
      return bytes.readUInt32LE();
    case 5:
      return bytes.readInt32LE();
    case 6:
      return bytes.readFloatLE();
    case BOOL:
      return bytes.readUInt8() !== 0;
    case 10:
      return Number(bytes.readBigUInt64LE());
    case 11:
      return Number(bytes.readBigInt64LE());
    default:
      return bytes.readDoubleLE();
  }
}

/** Reads the key-value section of a GGUF file. */
export class MetadataReader {
  readonly #cursor: FileCursor;
  readonly #file: string;
  /** The types of the single values that were read, by key. */
  readonly types = new Map<string, string>();

  constructor(cursor: FileCursor, file: string) {
    this.#cursor = cursor;
    this.#file = file;
  }

  /** Reads `count` pairs; a duplicate key, an unknown type or a length beyond the file is a 422 that names it. */
  async read(count: number): Promise<Metadata> {
    const metadata: Metadata = new Map();
    for (let index = 0; index < count; index += 1) {
      const key = await this.string(`key ${index + 1} of ${count}`, KEY_BYTES_LIMIT);
      if (key === '') throw fileFault(this.#file, `key ${index + 1} of ${count}`, key, 'a key must not be empty');
      if (metadata.has(key)) throw fileFault(this.#file, key, 'given twice', 'each key may occur once');
      metadata.set(key, await this.#value(key));
      if (this.#cursor.position > METADATA_BYTES_LIMIT) {
        throw fileFault(this.#file, 'metadata', `${this.#cursor.position} bytes`, `at most ${METADATA_BYTES_LIMIT} are allowed`);
      }
    }
    return metadata;
  }

  /** A length-prefixed text; bytes that are not UTF-8 become U+FFFD. */
  async string(field: string, limit = STRING_BYTES_LIMIT): Promise<string> {
    return (await this.#stringBytes(field, limit)).toString('utf8');
  }

  async #stringBytes(field: string, limit: number): Promise<Buffer> {
    await this.#cursor.need(8, field);
    const length = this.#length(field, limit);
    await this.#cursor.need(length, field);
    return this.#cursor.bytes(length);
  }

  #length(field: string, limit: number): number {
    const length = this.#cursor.length();
    if (length > limit) throw fileFault(this.#file, `length of ${field}`, length, `at most ${limit} bytes are allowed`);
    return length;
  }

  async #type(field: string): Promise<number> {
    await this.#cursor.need(4, field);
    const type = this.#cursor.u32();
    if (type >= TYPE_NAMES.length) throw fileFault(this.#file, `type of ${field}`, type, `types go from 0 to ${TYPE_NAMES.length - 1}`);
    return type;
  }

  async #value(key: string): Promise<MetaScalar | MetaArray> {
    const type = await this.#type(key);
    if (type === ARRAY) return this.#array(key);
    this.types.set(key, TYPE_NAMES[type]!);
    if (type === STRING) return this.string(key);
    await this.#cursor.need(WIDTHS[type]!, key);
    return number(this.#cursor.bytes(WIDTHS[type]!), type);
  }

  async #array(key: string): Promise<MetaArray> {
    const type = await this.#type(`items of ${key}`);
    if (type === ARRAY) throw fileFault(this.#file, `type of items of ${key}`, 'array', 'arrays of arrays are not allowed');
    const length = await this.#cursor.count(`length of ${key}`, ARRAY_LIMIT);
    const of = TYPE_NAMES[type]!;
    const keep = length <= KEPT_LENGTH || KEPT_ARRAYS.has(key);
    const width = WIDTHS[type]!;
    // Every item takes at least its width, a text its length prefix: a count that the file cannot hold is refused before the first item.
    if (length * (width || 8) > this.#cursor.size - this.#cursor.position) {
      throw fileFault(this.#file, `length of ${key}`, length, `the file has only ${this.#cursor.size} bytes`);
    }
    if (type !== STRING && !keep) {
      this.#cursor.skip(length * width, key);
      return { of, length };
    }
    const values = type === STRING ? await this.#strings(key, length, keep) : await this.#numbers(key, length, type);
    return keep ? { of, length, values } : { of, length };
  }

  // The loops below wait only where the file must be read: vocabularies have hundreds of thousands of items.
  async #strings(key: string, length: number, keep: boolean): Promise<MetaScalar[]> {
    const encoding = key === TOKENS_KEY ? 'latin1' : 'utf8';
    const values: MetaScalar[] = [];
    for (let index = 0; index < length; index += 1) {
      if (!this.#cursor.has(8)) await this.#cursor.need(8, key);
      const size = this.#length(key, STRING_BYTES_LIMIT);
      if (!this.#cursor.has(size)) await this.#cursor.need(size, key);
      if (keep) values.push(this.#cursor.text(size, encoding));
      else this.#cursor.skip(size, key);
    }
    return values;
  }

  async #numbers(key: string, length: number, type: number): Promise<MetaScalar[]> {
    const width = WIDTHS[type]!;
    const values: MetaScalar[] = [];
    for (let index = 0; index < length; index += 1) {
      if (!this.#cursor.has(width)) await this.#cursor.need(width, key);
      values.push(number(this.#cursor.bytes(width), type));
    }
    return values;
  }
}
