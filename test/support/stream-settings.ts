import type { DetectorSettings } from '../../runtime/store/store.js';

/** Settings of a small streaming detector; tests say what matters to them. */
export const STREAM_SETTINGS: DetectorSettings = {
  backend: 'ecod',
  minSamples: 10,
  retrainInterval: 100,
  windowSize: 50,
  contamination: 0.1,
  normalization: 'standardization',
  threshold: null,
  rollingWindows: [],
  lags: [],
  schema: null,
};

/** Numbers about 0 that look random and are always the same. */
const noise = (seed: number): number => {
  const value = Math.sin(seed * 12.9898) * 43758.5453;
  return (value - Math.floor(value)) * 2 - 1;
};
/** So many samples about (0, 5), the same for the same beginning. */
export const samples = (from: number, count: number): { a: number; b: number }[] =>
  Array.from({ length: count }, (_, index) => ({ a: noise(from + index), b: 5 + noise(1000 + from + index) }));
