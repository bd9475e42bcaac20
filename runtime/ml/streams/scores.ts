import type { DetectorSettings, ModelRecord } from '../../store/store.js';
import type { Drift } from './contract.js';

/** Bins of equally many learned scores. */
const BINS = 10;
/** Fewer scores say nothing about their distribution. */
const LEAST_SAMPLES = 30;
/** The usual bounds of the index. */
const MODERATE = 0.1;
const STRONG = 0.25;
/** Added to each bin, so that an empty one does not make the index infinite. */
const SMOOTHING = 0.5;

/** Upper bounds of all bins but the last over sorted scores; equal bounds become one. */
export function binEdges(sorted: Float64Array): number[] {
  const edges = Array.from({ length: BINS - 1 }, (_, bin) => sorted[Math.floor(((bin + 1) * sorted.length) / BINS)]!);
  return [...new Set(edges)];
}

/** The bin of a score. */
export function binOf(edges: readonly number[], score: number): number {
  let bin = 0;
  while (bin < edges.length && score >= edges[bin]!) bin += 1;
  return bin;
}

/**
 * Population stability index: the sum over bins of (p - q) ln(p / q), with p the share of new and q that of learned scores, half a score added to
 * each bin. Source: the symmetric Kullback-Leibler divergence (Jeffreys), as used to monitor credit scores.
 */
export function driftOf(expected: readonly number[], recent: readonly number[]): Drift {
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
  const samples = sum(recent);
  if (samples < LEAST_SAMPLES) return { value: null, samples, level: 'unknown' };
  const share = (counts: readonly number[], bin: number): number => (counts[bin]! + SMOOTHING) / (sum(counts) + SMOOTHING * counts.length);
  const value = expected.reduce((all, _count, bin) => {
    const [p, q] = [share(recent, bin), share(expected, bin)];
    return all + (p - q) * Math.log(p / q);
  }, 0);
  return { value, samples, level: value >= STRONG ? 'strong' : value >= MODERATE ? 'moderate' : 'none' };
}

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
