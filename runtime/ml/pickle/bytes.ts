import { Failure } from '../../../schemas/errors.js';

const NEWLINE = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A file that is no pickle of plain data. */
export function notPlain(why: string): Failure {
  return new Failure('invalid', `The pickle cannot be read: ${why}.`, { code: 'UnsafePickle' });
}

/** Reads the bytes of a pickle from front to back; every read names the place where the file ends too early. */
export class Bytes {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  /** A view, not a copy. */
  take(count: number): Buffer {
    if (count > this.left) throw notPlain(`it ends at byte ${this.#bytes.length}, where ${count} bytes from ${this.at} on were announced`);
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  /** A little-endian count of 1, 2, 4 or 8 bytes. */
  count(width: 1 | 2 | 4 | 8): number {
    if (width < 8) return this.take(width).readUIntLE(0, width);
    return Number(this.take(8).readBigUInt64LE());
  }

  double(): number {
    return this.take(8).readDoubleBE();
  }

  int32(): number {
    return this.take(4).readInt32LE();
  }

  /** UTF-8 of so many bytes. */
  text(byteCount: number): string {
    const start = this.at;
    try {
      return decoder.decode(this.take(byteCount));
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw notPlain(`the text at byte ${start} is not UTF-8`);
    }
  }

  /** Up to the end of the line, which is not part of it; of bytes, as Latin-1. */
  line(longest: number): string {
    const end = this.#bytes.indexOf(NEWLINE, this.at);
    if (end < 0) throw notPlain(`it ends inside the line that begins at byte ${this.at}`);
    if (end - this.at > longest) throw notPlain(`the line at byte ${this.at} is longer than ${longest} bytes`);
    const line = this.take(end - this.at).toString('latin1');
    this.at += 1;
    return line;
  }
}
