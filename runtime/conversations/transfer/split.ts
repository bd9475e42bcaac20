import { breathe } from '../../base/loop.js';

/** A longer value is passed over. */
export const VALUE_BYTES = 192 * 1024 * 1024;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const LIST = 0x5b;

/** One value of a file; without bytes where it is too long. */
export interface SplitValue {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

/**
 * The values of a JSON file one after the other: the elements of its list, or what stands beside each other in it, as in lines of JSON. Nothing is parsed but
 * quotes and brackets, so that a file takes no more memory than its longest value. Linear in its bytes; a file that ends within a value has that as its last.
 */
export async function* splitValues(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SplitValue, void, undefined> {
  const splitter = new Splitter();
  for await (const piece of pieces) {
    for (const value of splitter.add(piece)) yield value;
    await breathe();
  }
  const last = splitter.end();
  if (last) yield last;
}

class Splitter {
  /** Depth of the value's own brackets; values of a list begin at 1. */
  #depth = 0;
  #base = 0;
  #isInText = false;
  #isEscaped = false;
  #isBegun = false;
  #number = 0;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isValue = false;

  *add(piece: Uint8Array): Generator<SplitValue> {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]!;
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInText = false;
        continue;
      }
      if (!this.#isValue) {
        if (BLANK.has(byte) || (byte === COMMA && this.#depth === this.#base)) continue;
        if (!this.#isBegun && byte === LIST) {
          this.#isBegun = true;
          this.#base = 1;
          this.#depth = 1;
          continue;
        }
        this.#isBegun = true;
        if (CLOSE.has(byte)) {
          // The list ends; what comes behind it stands by itself.
          this.#base = 0;
          this.#depth = 0;
          continue;
        }
        this.#isValue = true;
        from = at;
      }
      if (byte === QUOTE) this.#isInText = true;
      else if (OPEN.has(byte)) this.#depth += 1;
      else if (CLOSE.has(byte)) {
        this.#depth -= 1;
        if (this.#depth > this.#base) continue;
        yield this.#value(piece.subarray(from, at + 1));
        this.#depth = this.#base;
      }
    }
    if (this.#isValue) this.#keep(piece.subarray(from));
  }

  end(): SplitValue | undefined {
    return this.#isValue ? this.#value(new Uint8Array()) : undefined;
  }

  #value(rest: Uint8Array): SplitValue {
    this.#keep(rest);
    const bytes = this.#bytes > VALUE_BYTES ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#isValue = false;
    this.#number += 1;
    return { number: this.#number, bytes };
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > VALUE_BYTES) this.#parts = [];
    else this.#parts.push(Buffer.from(part));
  }
}
