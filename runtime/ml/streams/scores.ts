import type { DetectorSettings, ModelRecord } from '../../store/store.js';
import { binEdges, binOf } from './drift.js';

/** Above this the scores of most detectors mean something; standardised scores of half the samples are above 0.5. */
const DEFAULT_THRESHOLD = { standardization: 0.5, zscore: 2 } as const;

/** What is kept of the raw scores of the rows that a model learned from. */
export interface Learned {
  readonly mean: number;
  readonly deviation: number;
  readonly cut: number;
  readonly edges: number[];
  readonly expected: number[];
}

/** The deviation is of the population; 1 where all scores are equal. */
export function learnedFrom(raw: Float64Array, contamination: number): Learned {
  const mean = raw.reduce((sum, score) => sum + score, 0) / raw.length;
  const deviation = Math.sqrt(raw.reduce((sum, score) => sum + (score - mean) ** 2, 0) / raw.length) || 1;
  const sorted = raw.slice().sort();
  const place = (1 - contamination) * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  const edges = binEdges(sorted);
  const expected = new Array<number>(edges.length + 1).fill(0);
  for (const score of raw) expected[binOf(edges, score)]! += 1;
  return { mean, deviation, cut: below + (above - below) * (place - Math.floor(place)), edges, expected };
}

/** A raw score as it is answered: a logistic curve over deviations from the mean, these deviations, or as it is. */
export function scoreOf(
  raw: number,
  { mean, deviation }: Pick<ModelRecord, 'mean' | 'deviation'>,
  { normalization }: DetectorSettings,
): number {
  if (normalization === 'raw') return raw;
  const deviations = (raw - mean) / deviation;
  return normalization === 'zscore' ? deviations : 1 / (1 + Math.exp(-deviations));
}

/** The score above which a sample is an anomaly; null when only a model can tell. */
export function thresholdOf({ threshold, normalization }: DetectorSettings, model?: Pick<ModelRecord, 'cut'>): number | null {
  if (threshold !== null) return threshold;
  return normalization === 'raw' ? (model?.cut ?? null) : DEFAULT_THRESHOLD[normalization];
}
