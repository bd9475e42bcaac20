import { readSync } from 'node:fs';

/** Bytes that are read at a time; larger fields are skipped unread. */
const WINDOW_BYTES = 64 * 1024;
/** A varint of 64 bits takes ten bytes at most. */
const VARINT_BYTES = 10;

/** One field of a protobuf message: where its bytes lie in the file, or its number for the types that have no bytes of their own. */
export interface ProtoField {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 bytes of a given length, 5 four bytes. */
  readonly wire: number;
  /** Of a varint; exact up to 2^53. */
  readonly value: number;
  /** The same, read as a signed number. */
  readonly signed: number;
  readonly start: number;
  readonly end: number;
}

/** Walks the fields of protobuf messages in an open file, without reading what nobody asks for. Throws RangeError where the bytes are none. */
export class ProtoFile {
  readonly #descriptor: number;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #windowStart = 0;
  #windowEnd = 0;
  #at = 0;
  /** The last varint, read as a signed number. */
  #signed = 0;
  readonly sizeBytes: number;

  constructor(descriptor: number, sizeBytes: number) {
    this.#descriptor = descriptor;
    this.sizeBytes = sizeBytes;
  }

  /** The fields of the message between two positions, in the order of the file. */
  *fields(start = 0, end = this.sizeBytes): Generator<ProtoField> {
    for (let at = start; at < end; ) {
      const field = this.#field(at, end);
      at = field.end;
      yield field;
    }
  }

  /** The bytes of a field as text; at most `limit` of them. */
  text(field: ProtoField, limit: number): string {
    return this.bytes(field, limit).toString('utf8');
  }

  /** A copy of a field's bytes. Throws RangeError where they are more than `limit`. */
  bytes(field: ProtoField, limit: number): Buffer {
    const size = field.end - field.start;
    if (size > limit) throw new RangeError(`a field of ${size} bytes stands where at most ${limit} are expected`);
    const out = Buffer.alloc(size);
    if (readSync(this.#descriptor, out, 0, size, field.start) !== size) throw new RangeError('the file ends inside a field');
    return out;
  }

  /** The numbers of a repeated integer field, packed or one by one. */
  integers(field: ProtoField, limit: number): number[] {
    return this.#numbers(field, limit, (value) => value);
  }

  /** The same, where they may be negative. */
  signedIntegers(field: ProtoField, limit: number): number[] {
    return this.#numbers(field, limit, (_value, signed) => signed);
  }

  #numbers(field: ProtoField, limit: number, pick: (value: number, signed: number) => number): number[] {
    if (field.wire === 0) return [pick(field.value, field.signed)];
    const out: number[] = [];
    for (this.#at = field.start; this.#at < field.end; ) {
      if (out.length >= limit) throw new RangeError(`more than ${limit} numbers stand in one field`);
      const value = this.#varint(field.end);
      out.push(pick(value, this.#signed));
    }
    return out;
  }

  #field(start: number, end: number): ProtoField {
    this.#at = start;
    const tag = this.#varint(end);
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    let value = 0;
    if (wire === 0) value = this.#varint(end);
    const signed = wire === 0 ? this.#signed : 0;
    const size = wire === 2 ? this.#varint(end) : wire === 1 ? 8 : wire === 5 ? 4 : 0;
    const from = this.#at;
    if (number === 0 || ![0, 1, 2, 5].includes(wire)) throw new RangeError(`byte ${start} begins no field`);
    if (from + size > end) throw new RangeError(`the field at byte ${start} is ${size} bytes long and ends after its message`);
    return { number, wire, value, signed, start: from, end: from + size };
  }

  #varint(end: number): number {
    let value = 0;
    // What a negative number lacks to -1: its own bits are too many for a double.
    let lacking = 0;
    for (let index = 0; index < VARINT_BYTES; index += 1) {
      if (this.#at >= end) throw new RangeError('the file ends inside a number');
      const byte = this.#byte(this.#at);
      this.#at += 1;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) {
        this.#signed = index === VARINT_BYTES - 1 ? -1 - lacking : value;
        return value;
      }
      lacking += (~byte & 0x7f) * 2 ** (7 * index);
    }
    throw new RangeError(`byte ${this.#at} goes on with a number of more than 64 bits`);
  }

  #byte(at: number): number {
    if (at < this.#windowStart || at >= this.#windowEnd) {
      const count = readSync(this.#descriptor, this.#window, 0, WINDOW_BYTES, at);
      if (count === 0) throw new RangeError('the file is shorter than it says');
      this.#windowStart = at;
      this.#windowEnd = at + count;
    }
    return this.#window[at - this.#windowStart]!;
  }
}

/** A message or a part of one, as its pieces in order; joined once at the end, so that weights are not copied at each level. */
export type ProtoParts = readonly Uint8Array[];

const LENGTH_WIRE = 2;
const FOUR_BYTES_WIRE = 5;

/** A varint; negative numbers take ten bytes, as 64-bit two's complement. */
function varint(value: number | bigint): Uint8Array {
  const out: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 0x80n) return Uint8Array.from([...out, Number(rest)]);
    out.push(Number(rest & 0x7fn) | 0x80);
  }
}

/** A field with an integer. */
export function integerField(number: number, value: number | bigint): ProtoParts {
  return [varint(number << 3), varint(value)];
}

/** A field with a 32-bit float. */
export function floatField(number: number, value: number): ProtoParts {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return [varint((number << 3) | FOUR_BYTES_WIRE), bytes];
}

/** A field with bytes. */
export function bytesField(number: number, bytes: Uint8Array): ProtoParts {
  return messageField(number, [bytes]);
}

/** A field with a text, as UTF-8. */
export function textField(number: number, text: string): ProtoParts {
  return messageField(number, [Buffer.from(text, 'utf8')]);
}

/** A field with a message. */
export function messageField(number: number, parts: ProtoParts): ProtoParts {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return [varint((number << 3) | LENGTH_WIRE), varint(size), ...parts];
}

/** A repeated field of integers, packed. */
export function packedField(number: number, values: readonly (number | bigint)[]): ProtoParts {
  return messageField(number, values.map(varint));
}
