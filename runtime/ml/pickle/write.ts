import { breathe } from '../../base/loop.js';
import { OP } from './opcodes.js';
import { HALF_CHARACTER, longBytes, MAX_DEPTH, MAX_VALUES, notPlain, type Plain } from './values.js';

/** Python 3.4 and later read it; the first with lengths of 8 bytes. */
const PROTOCOL = 4;
/** Values between two looks at the clock. */
const VALUES_PER_LOOK = 256;
/** Pieces of up to this many bytes are gathered into one. */
const GATHERED_BYTES = 64 * 1024;

/**
 * A value as a pickle of protocol 4, in pieces: what is longer than 64 KB is not copied. `pickle.load` of Python 3.4 and later reads it.
 * Throws `invalid` for what `readPickle` would refuse. Works in turns.
 */
export async function writePickle(value: Plain): Promise<Uint8Array[]> {
  const out = new Pieces();
  out.bytes([OP.proto, PROTOCOL]);
  await new Writer(out).write(value, 0);
  out.bytes([OP.stop]);
  return out.all();
}

class Writer {
  readonly #out: Pieces;
  #values = 0;

  constructor(out: Pieces) {
    this.#out = out;
  }

  async write(value: Plain, depth: number): Promise<void> {
    this.#count();
    if (value === null || typeof value !== 'object' || value instanceof Uint8Array) {
      scalar(this.#out, value);
      return;
    }
    if (depth === MAX_DEPTH) throw notPlain(`it would be nested deeper than ${MAX_DEPTH} levels`);
    const isList = Array.isArray(value);
    this.#out.bytes([isList ? OP.emptyList : OP.emptyDict, OP.mark]);
    for (const [key, member] of Object.entries(value as Record<string, Plain>)) {
      if (!isList) text(this.#out, key);
      if (member !== null && typeof member === 'object') await this.write(member, depth + 1);
      else {
        this.#count();
        scalar(this.#out, member);
      }
      if (this.#values % VALUES_PER_LOOK === 0) await breathe();
    }
    this.#out.bytes([isList ? OP.appends : OP.setItems]);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw notPlain(`it would have more than ${MAX_VALUES} values`);
  }
}

function scalar(out: Pieces, value: null | boolean | number | bigint | string | Uint8Array): void {
  if (value === null) out.bytes([OP.none]);
  else if (typeof value === 'boolean') out.bytes([value ? OP.newTrue : OP.newFalse]);
  else if (typeof value === 'string') text(out, value);
  else if (typeof value === 'number') number(out, value);
  else if (typeof value === 'bigint') long(out, value);
  else writeSized(out, value, OP.shortBinBytes, OP.binBytes, OP.binBytes8);
}

function number(out: Pieces, value: number): void {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
    const bytes = Buffer.alloc(9);
    bytes[0] = OP.binFloat;
    bytes.writeDoubleBE(value, 1);
    out.bytes(bytes);
  } else if (value >= -(2 ** 31) && value < 2 ** 31) {
    const bytes = Buffer.alloc(5);
    bytes[0] = OP.binInt;
    bytes.writeInt32LE(value, 1);
    out.bytes(bytes);
  } else long(out, BigInt(value));
}

function long(out: Pieces, value: bigint): void {
  const bytes = longBytes(value);
  out.bytes([OP.long1, bytes.length]);
  out.bytes(bytes);
}

function text(out: Pieces, value: string): void {
  if (HALF_CHARACTER.test(value)) throw notPlain(`the text ${JSON.stringify(value.slice(0, 40))} has half a character`);
  writeSized(out, Buffer.from(value), OP.shortBinUnicode, OP.binUnicode, OP.binUnicode8);
}

/** Bytes behind the opcode for their length, and the length. */
function writeSized(out: Pieces, content: Uint8Array, short: number, middle: number, long: number): void {
  const { length } = content;
  if (length < 0x100) out.bytes([short, length]);
  else {
    const head = Buffer.alloc(length <= 0xffffffff ? 5 : 9);
    head[0] = head.length === 5 ? middle : long;
    if (head.length === 5) head.writeUInt32LE(length, 1);
    else head.writeBigUInt64LE(BigInt(length), 1);
    out.bytes(head);
  }
  out.bytes(content);
}

/** Gathers small pieces and keeps large ones as they are. */
class Pieces {
  readonly #done: Uint8Array[] = [];
  #gathered = Buffer.allocUnsafe(GATHERED_BYTES);
  #length = 0;

  bytes(piece: Uint8Array | readonly number[]): void {
    if (this.#length + piece.length > GATHERED_BYTES) this.#flush();
    if (piece.length > GATHERED_BYTES) {
      this.#done.push(piece as Uint8Array);
      return;
    }
    this.#gathered.set(piece, this.#length);
    this.#length += piece.length;
  }

  all(): Uint8Array[] {
    this.#flush();
    return this.#done;
  }

  #flush(): void {
    if (this.#length === 0) return;
    this.#done.push(this.#gathered.subarray(0, this.#length));
    this.#gathered = Buffer.allocUnsafe(GATHERED_BYTES);
    this.#length = 0;
  }
}
