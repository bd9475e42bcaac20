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
