/** A seeded source of numbers; the same seed gives the same sequence on every machine. */
export interface SeededRandom {
  /** Uniform in [0, 1), 32 bits. */
  next(): number;
  /** Uniform integer in [0, limit). */
  below(limit: number): number;
  /** Fills with uniform values in [-scale, scale); the standard deviation is scale / sqrt(3). */
  fill(values: Float32Array, scale: number): void;
}

/** A xorshift generator over 32 bits (Marsaglia, 2003: shifts 13, 17, 5); the seed is stirred so that small seeds differ at once. */
export function seededRandom(seed: number): SeededRandom {
  let state = (Math.imul(seed + 0x9e3779b9, 0x85ebca6b) ^ 0x5bd1e995) | 0 || 1;
  const step = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  };
  for (let round = 0; round < 8; round += 1) step();
  return {
    next: () => (step() >>> 0) / 2 ** 32,
    below: (limit) => Math.floor(((step() >>> 0) / 2 ** 32) * limit),
    fill: (values, scale) => {
      const unit = scale / 2 ** 31;
      for (let index = 0; index < values.length; index += 1) values[index] = step() * unit;
    },
  };
}
