/** A set of rows: bit `row & 7` of byte `row >> 3`. */
export class Bitmap {
  #bytes: Uint8Array;
  /** Rows in the set. */
  size = 0;

  constructor(rows = 0) {
    this.#bytes = new Uint8Array((rows + 7) >>> 3);
  }

  /** The bits; rows beyond the array are not in the set. The set's own memory. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Whether a row is in the set. */
  has(row: number): boolean {
    return ((this.#bytes[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  /** Puts a row into the set. */
  add(row: number): void {
    if (this.has(row)) return;
    if (row >>> 3 >= this.#bytes.length) this.#grow((row >>> 3) + 1);
    this.#bytes[row >>> 3]! |= 1 << (row & 7);
    this.size += 1;
  }

  /** Takes a row out of the set. */
  delete(row: number): void {
    if (!this.has(row)) return;
    this.#bytes[row >>> 3]! &= ~(1 << (row & 7));
    this.size -= 1;
  }

  /** The rows in the set, ascending. */
  *rows(): Generator<number> {
    for (const [at, byte] of this.#bytes.entries()) {
      if (byte === 0) continue;
      for (let bit = 0; bit < 8; bit += 1) if ((byte & (1 << bit)) !== 0) yield at * 8 + bit;
    }
  }

  #grow(least: number): void {
    const bytes = new Uint8Array(Math.max(least, this.#bytes.length * 2));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}
