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
