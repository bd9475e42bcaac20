const ROUNDS = 4;

/** Random numbers that a seed determines on every machine: xoshiro128** (Blackman and Vigna), made normal by Box and Muller's method. */
export class NormalNoise {
  readonly #state = new Uint32Array(4);

  /** `seed` is a whole number; its lower 53 bits count. */
  constructor(seed: number) {
    // splitmix32 spreads the seed over the state.
    let mixed = (seed >>> 0) ^ Math.imul(Math.floor(Math.abs(seed) / 2 ** 32), 0x9e3779b9);
    for (let index = 0; index < ROUNDS; index += 1) {
      mixed = (mixed + 0x9e3779b9) | 0;
      let part = mixed ^ (mixed >>> 16);
      part = Math.imul(part, 0x21f0aaad);
      part ^= part >>> 15;
      part = Math.imul(part, 0x735a2d97);
      this.#state[index] = part ^ (part >>> 15);
    }
    // The one state that the generator never leaves.
    if (this.#state.every((word) => word === 0)) this.#state[0] = 1;
  }

  /** `count` values with mean 0 and deviation 1. */
  take(count: number): Float32Array {
    const out = new Float32Array(count);
    for (let at = 0; at < count; at += 2) {
      const radius = Math.sqrt(-2 * Math.log(1 - this.#unit()));
      const angle = 2 * Math.PI * this.#unit();
      out[at] = radius * Math.cos(angle);
      if (at + 1 < count) out[at + 1] = radius * Math.sin(angle);
    }
    return out;
  }

  /** From 0 up to 1. */
  #unit(): number {
    const s = this.#state;
    const scrambled = Math.imul(rotateLeft(Math.imul(s[1]!, 5), 7), 9) >>> 0;
    const shifted = s[1]! << 9;
    s[2]! ^= s[0]!;
    s[3]! ^= s[1]!;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= shifted;
    s[3] = rotateLeft(s[3]!, 11);
    return scrambled / 2 ** 32;
  }
}

const rotateLeft = (word: number, by: number): number => ((word << by) | (word >>> (32 - by))) >>> 0;
