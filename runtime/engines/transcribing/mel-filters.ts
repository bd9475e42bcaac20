import { LISTEN_RATE } from '../contracts/transcribing.js';

/** Frequencies of its spectrum: half of 400 samples, and the constant. */
const FREQUENCIES = 201;
/** The mel scale of Slaney's Auditory Toolbox (1998): linear to 1 kHz, logarithmic above. */
const LINEAR_HZ = 200 / 3;
const BREAK_HZ = 1000;
const BREAK_MEL = BREAK_HZ / LINEAR_HZ;
const STEP = Math.log(6.4) / 27;

const melOf = (hz: number): number => (hz < BREAK_HZ ? hz / LINEAR_HZ : BREAK_MEL + Math.log(hz / BREAK_HZ) / STEP);
const hzOf = (mel: number): number => (mel < BREAK_MEL ? mel * LINEAR_HZ : BREAK_HZ * Math.exp(STEP * (mel - BREAK_MEL)));

/** Triangular filters from 0 to 8 kHz, each of area 1: `count` rows of 201 weights. */
export function melFilters(count: number): Float32Array {
  const top = melOf(LISTEN_RATE / 2);
  const edges = Array.from({ length: count + 2 }, (_, i) => hzOf((top * i) / (count + 1)));
  const filters = new Float32Array(count * FREQUENCIES);
  for (let i = 0; i < count; i += 1) {
    const [low, middle, high] = [edges[i]!, edges[i + 1]!, edges[i + 2]!];
    for (let k = 0; k < FREQUENCIES; k += 1) {
      const hz = (k * LISTEN_RATE) / 2 / (FREQUENCIES - 1);
      const rising = (hz - low) / (middle - low);
      const falling = (high - hz) / (high - middle);
      filters[i * FREQUENCIES + k] = (Math.max(0, Math.min(rising, falling)) * 2) / (high - low);
    }
  }
  return filters;
}
