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
