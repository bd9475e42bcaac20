/** Waves per vector are spread from 1 down to one part in this many. */
const SLOWEST = 10_000;
const SCALE = 1000;

/** How networks are told their guidance that were trained to follow it by themselves: sines and cosines of what passes 1 (Luo et al. 2023). */
export function guidanceVector(guidance: number, width: number): Float32Array {
  const half = Math.floor(width / 2);
  const out = new Float32Array(width);
  for (let place = 0; place < half; place += 1) {
    const angle = (guidance - 1) * SCALE * SLOWEST ** (-place / Math.max(1, half - 1));
    out[place] = Math.sin(angle);
    out[half + place] = Math.cos(angle);
  }
  return out;
}
