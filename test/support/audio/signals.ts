/** Sound like speech: a voice of 130 Hz with its overtones, in syllables of 0.2 s; from -0.7 to 0.7. `rate` in Hz. */
export function syllables(seconds: number, rate: number): Float32Array {
  const samples = new Float32Array(Math.round(seconds * rate));
  for (let i = 0; i < samples.length; i++) {
    const t = i / rate;
    const phase = 2 * Math.PI * (130 * t + 4 * Math.sin(2 * Math.PI * 0.7 * t));
    let sum = 0;
    for (let overtone = 1; overtone <= 16; overtone++) sum += Math.sin(overtone * phase + overtone * overtone) / overtone;
    samples[i] = 0.25 * sum * Math.sin(Math.PI * 5 * t) ** 2;
  }
  return samples;
}

/** How alike two sounds are, from -1 to 1, when `other` begins `lag` samples later; the best of the lags up to `mostLag` samples. */
export function bestMatch(one: Float32Array, other: Float32Array, mostLag: number): { readonly correlation: number; readonly lag: number } {
  const match = (lag: number): number => {
    let product = 0;
    let ofOne = 0;
    let ofOther = 0;
    for (let i = Math.max(0, -lag); i < one.length && i + lag < other.length; i++) {
      const [a, b] = [one[i]!, other[i + lag]!];
      product += a * b;
      ofOne += a * a;
      ofOther += b * b;
    }
    return product / Math.sqrt(ofOne * ofOther || 1);
  };
  let best = { correlation: match(0), lag: 0 };
  const look = (from: number, to: number, step: number): void => {
    for (let lag = from; lag <= to; lag += step) {
      const correlation = match(lag);
      if (correlation > best.correlation) best = { correlation, lag };
    }
  };
  // Neighbours are much alike: the best of every fourth lag is near the best of all.
  look(-mostLag, mostLag, 4);
  look(best.lag - 3, best.lag + 3, 1);
  return best;
}
