/** From 16 to 24 kHz: three samples for two. */
const [UP, DOWN] = [3, 2];
/** Samples of the input that each one of the output is made of. */
const TAPS = 24;
/** Of a Kaiser window: 80 dB below. */
const BETA = 7.9;

/** Bessel's function of the first kind and order 0, modified. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > 1e-12 * sum; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/** Weights of the samples around each of the places that an output sample may have between two of the input. */
const WEIGHTS = Array.from({ length: UP }, (_, phase) =>
  Float64Array.from({ length: TAPS }, (_, tap) => {
    const distance = tap - TAPS / 2 + 1 - phase / UP;
    const window = bessel(BETA * Math.sqrt(Math.max(0, 1 - (distance / (TAPS / 2)) ** 2))) / bessel(BETA);
    return (distance === 0 ? 1 : Math.sin(Math.PI * distance) / (Math.PI * distance)) * window;
  }),
);

/** Samples of 16 bits at 16 kHz as floats at 24 kHz. */
export function from16k(input: Int16Array): Float32Array {
  const output = new Float32Array(Math.ceil((input.length * UP) / DOWN));
  for (let index = 0; index < output.length; index += 1) {
    const weights = WEIGHTS[(index * DOWN) % UP]!;
    const first = Math.floor((index * DOWN) / UP) - TAPS / 2 + 1;
    let sum = 0;
    for (let tap = Math.max(0, -first); tap < TAPS && first + tap < input.length; tap += 1) sum += weights[tap]! * input[first + tap]!;
    output[index] = sum / 32768;
  }
  return output;
}
