import type { FileHandle } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';

/** Bytes read at a time: small enough that parsing one chunk never holds the event loop for 5 ms. */
const CHUNK_BYTES = 16 * 1024;

/** Reads little-endian values of a file front to back; every length is checked against the file before a byte is read. */
export class FileCursor {
  readonly #handle: FileHandle;
  readonly #file: string;
  readonly size: number;
  #buffer = Buffer.alloc(0);
  /** Offset of the buffer's first byte in the file. */
  #base = 0;
  #at = 0;

  /** `file` is the name for messages. */
  constructor(handle: FileHandle, size: number, file: string) {
    this.#handle = handle;
    this.size = size;
    this.#file = file;
  }

  /** Offset of the next byte in the file. */
  get position(): number {
    return this.#base + this.#at;
  }

  /** True when `count` bytes can be taken without reading the file. */
  has(count: number): boolean {
    return this.#buffer.length - this.#at >= count;
  }

  /** Reads until `count` bytes can be taken; `field` is named when the file ends before. */
  async need(count: number, field: string): Promise<void> {
    if (this.has(count)) return;
    const position = this.position;
    if (count > this.size - position)
      throw fileFault(this.#file, field, `${count} bytes at offset ${position}`, `the file has only ${this.size} bytes`);
    const wanted = Math.min(Math.max(count, CHUNK_BYTES), this.size - position);
    const next = Buffer.allocUnsafe(wanted);
    const kept = this.#buffer.copy(next, 0, this.#at);
    let filled = kept;
    while (filled < wanted) {
      const { bytesRead } = await this.#handle.read(next, filled, wanted - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    if (filled < count)
      throw fileFault(this.#file, field, `${count} bytes at offset ${position}`, 'the file became shorter while it was read');
    this.#buffer = next.subarray(0, filled);
    this.#base = position;
    this.#at = 0;
  }

  /** Moves on without reading. */
  skip(count: number, field: string): void {
    if (count > this.size - this.position)
      throw fileFault(this.#file, field, `${count} bytes at offset ${this.position}`, `the file has only ${this.size} bytes`);
    if (this.has(count)) {
      this.#at += count;
      return;
    }
    this.#base = this.position + count;
    this.#buffer = Buffer.alloc(0);
    this.#at = 0;
  }

  u32(): number {
    this.#at += 4;
    return this.#buffer.readUInt32LE(this.#at - 4);
  }

  /** A 64-bit length as a number, exact up to 2^53 and never smaller than that beyond; much cheaper than `u64`. */
  length(): number {
    this.#at += 8;
    return this.#buffer.readUInt32LE(this.#at - 4) * 2 ** 32 + this.#buffer.readUInt32LE(this.#at - 8);
  }

  u64(): bigint {
    this.#at += 8;
    return this.#buffer.readBigUInt64LE(this.#at - 8);
  }

  text(count: number, encoding: 'latin1' | 'utf8'): string {
    this.#at += count;
    return this.#buffer.toString(encoding, this.#at - count, this.#at);
  }

  /** The next bytes; valid until the next `need`. */
  bytes(count: number): Buffer {
    this.#at += count;
    return this.#buffer.subarray(this.#at - count, this.#at);
  }

  /** A 64-bit count of at most `limit`. */
  async count(field: string, limit: number): Promise<number> {
    await this.need(8, field);
    const value = this.u64();
    if (value > BigInt(limit)) throw fileFault(this.#file, field, value, `at most ${limit} is allowed`);
    return Number(value);
  }
}

/** Characters of a value from a file that a message repeats. */
const SHOWN = 80;

/** A value as a message shows it. */
export function renderValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}

/** What helps where a file is damaged. */
const AGAIN = 'Get the file again from its source.';

/** The 422 of a model file that cannot be used: names the file, the field, its value and what is allowed, and what to do. */
export function fileFault(file: string, field: string, value: unknown, allowed: string, remedy = AGAIN): Failure {
  const msg = `${field} is ${renderValue(value)}; ${allowed}`;
  return new Failure('invalid', `${file} is not a usable GGUF file: ${msg}. ${remedy}`, {
    code: 'InvalidModelFile',
    errors: [{ type: 'gguf', loc: ['file', field], msg, input: typeof value === 'bigint' ? String(value) : value }],
  });
}
