/** Numbers that wait in the order in which they came. They take their own bytes and at most as many again, however small the pieces are. */
export class NumberQueue<T extends Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>> {
  readonly #make: (length: number) => T;
  #numbers: T;
  #start = 0;
  #end = 0;

  /** `make` gives an array of zeros. */
  constructor(make: (length: number) => T) {
    this.#make = make;
    this.#numbers = make(0);
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Copies more numbers behind those that wait. */
  add(numbers: ArrayLike<number>): void {
    if (this.#end + numbers.length > this.#numbers.length) this.#makeRoom(numbers.length);
    this.#numbers.set(numbers, this.#end);
    this.#end += numbers.length;
  }

  /** A copy of the first numbers; they stay. */
  peek(count: number): T {
    return this.#numbers.slice(this.#start, Math.min(this.#end, this.#start + count)) as T;
  }

  /** Forgets the first numbers. */
  drop(count: number): void {
    this.#start = Math.min(this.#end, this.#start + count);
    if (this.length > 0) return;
    this.#numbers = this.#make(0);
    this.#start = 0;
    this.#end = 0;
  }

  #makeRoom(count: number): void {
    const waiting = this.#numbers.subarray(this.#start, this.#end);
    const needed = waiting.length + count;
    const numbers = needed * 2 <= this.#numbers.length ? this.#numbers : this.#make(Math.max(needed, waiting.length * 2));
    // Both may be the same memory, which `set` allows.
    numbers.set(waiting);
    this.#numbers = numbers;
    this.#start = 0;
    this.#end = waiting.length;
  }
}
