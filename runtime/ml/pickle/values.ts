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

/** What our pickle files hold: data without behaviour. A number without a fraction is an `int` in Python, unless it is -0 or beyond 2^53. */
export type Plain = null | boolean | number | bigint | string | Uint8Array | readonly Plain[] | { readonly [key: string]: Plain };

/** Most values of one file, counted where they are used: one that is shared counts each time. */
export const MAX_VALUES = 1_000_000;
/** Deepest nesting of lists and dicts. */
export const MAX_DEPTH = 32;
/** Longest integer, in bytes; one of 78 decimal digits. */
const MAX_INTEGER_BYTES = 32;
/** Largest file, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024 * 1024;

/** Half of a character that needs two units of UTF-16: UTF-8 cannot write it. */
export const HALF_CHARACTER: RegExp = /\p{Surrogate}/u;

/** Longest line of a number in protocol 0. */
export const MAX_NUMBER_CHARACTERS = 100;

const DECIMAL = /^[+-]?\d+$/;
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Infinity, '-inf': -Infinity };

/** As a number where that is exact. */
function asNumberIfExact(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** An integer as protocol 0 writes it; `L` at the end marks Python's long ones. */
export function integerOf(line: string, at: number): number | bigint {
  const digits = line.replace(/L$/, '');
  if (!DECIMAL.test(digits)) throw notPlain(`${JSON.stringify(line)} at byte ${at} is no integer`);
  return asNumberIfExact(BigInt(digits.replace('+', '')));
}

/** A float as protocol 0 writes it. */
export function floatOf(line: string, at: number): number {
  const special = SPECIAL[line];
  if (special !== undefined) return special;
  if (!FLOAT.test(line)) throw notPlain(`${JSON.stringify(line)} at byte ${at} is no number`);
  return Number(line);
}

/** Little-endian two's complement; no byte at all is 0. */
export function longOf(bytes: Uint8Array, at: number): number | bigint {
  if (bytes.length > MAX_INTEGER_BYTES)
    throw notPlain(`the integer at byte ${at} has ${bytes.length} bytes; ${MAX_INTEGER_BYTES} are allowed`);
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i -= 1) value = (value << 8n) | BigInt(bytes[i]!);
  return asNumberIfExact(BigInt.asIntN(bytes.length * 8, value));
}

/** What `longOf` reads. Throws for an integer that is longer than it takes. */
export function longBytes(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const low = Number(BigInt.asUintN(8, rest));
    bytes.push(low);
    rest >>= 8n;
    if ((rest === 0n && low < 0x80) || (rest === -1n && low >= 0x80)) break;
  }
  if (bytes.length > MAX_INTEGER_BYTES) throw notPlain(`an integer of ${bytes.length} bytes is too long`);
  return Uint8Array.from(bytes);
}

/** `\u1234` and `\U00012345` in Latin-1 text, as protocol 0 writes texts. */
export function unescaped(line: string, at: number): string {
  const text = line.replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/g, (_all, four: string, eight: string) => {
    const point = Number.parseInt(four ?? eight, 16);
    if (point > 0x10ffff) throw notPlain(`the text at byte ${at} has a character beyond Unicode`);
    return String.fromCodePoint(point);
  });
  if (HALF_CHARACTER.test(text)) throw notPlain(`the text at byte ${at} has half a character`);
  return text;
}
