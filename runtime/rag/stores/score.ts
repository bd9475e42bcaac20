/** How a database compares vectors. */
export type Metric = 'cosine' | 'ip' | 'l2';

const clamped = (value: number): number => Math.min(1, Math.max(0, value));
/** The squared distance at which the score of `l2` is one half. */
const L2_HALF = 100;

/**
 * The score of a hit, 0 to 1, a higher one the better. `raw` is the cosine similarity, the inner product, or minus the squared
 * Euclidean distance.
 */
export function scoreOf(metric: Metric, raw: number): number {
  if (metric === 'l2') return 1 / (1 + Math.max(0, -raw) / L2_HALF);
  return clamped((1 + raw) / 2);
}

/** The raw similarity of two vectors of the same length; those of cosine need no length of 1. */
export function similarity(metric: Metric, a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squares = 0;
  let distance = 0;
  if (metric === 'l2') {
    for (let i = 0; i < a.length; i += 1) distance += (a[i]! - b[i]!) ** 2;
    return -distance;
  }
  for (let i = 0; i < a.length; i += 1) {
    dot += a[i]! * b[i]!;
    squares += b[i]! * b[i]!;
  }
  return metric === 'ip' ? dot : dot / Math.sqrt(squares * lengthSquared(a));
}

function lengthSquared(vector: Float32Array): number {
  let sum = 0;
  for (const component of vector) sum += component * component;
  return sum;
}
