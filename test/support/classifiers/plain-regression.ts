/** Rows of embeddings with their labels, which are places in a list of `classes`. */
export interface Labelled {
  readonly vectors: readonly Float32Array[];
  readonly targets: ArrayLike<number>;
  readonly classes: number;
}

/** C of scikit-learn's default. */
const STRENGTH = 1;
/** Enough for a change of the weights under 1e-9 with some hundred rows of length 1. */
const MOST_STEPS = 20_000;
const STILL = 1e-10;

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!;
  return sum;
}

/** Turns logits into probabilities. */
function softmax(logits: Float64Array): void {
  const most = Math.max(...logits);
  let sum = 0;
  for (let k = 0; k < logits.length; k += 1) sum += logits[k] = Math.exp(logits[k]! - most);
  for (let k = 0; k < logits.length; k += 1) logits[k]! /= sum;
}

/**
 * Multinomial logistic regression on embeddings as they are: no projection, no calibration, the objective of scikit-learn's `LogisticRegression()`, and
 * none of our native code. Weights are sums of rows, so that steps of accelerated descent (Nesterov 1983) work on the products of the rows alone.
 * `label` is that of another embedding.
 */
export function plainRegression({ vectors, targets, classes }: Labelled): {
  readonly weights: readonly Float64Array[];
  label(vector: Float32Array): number;
} {
  const rows = vectors.length;
  const products = vectors.map((one) => Float64Array.from(vectors, (other) => dot(one, other)));
  const zeros = (): Float64Array[] => Array.from({ length: classes }, () => new Float64Array(rows + 1));
  // Per class one share of each row, and last the bias.
  let [now, ahead] = [zeros(), zeros()];
  const decay = 1 / (STRENGTH * rows);
  // The mean loss has curvature of at most half the largest eigenvalue of the products over the rows, which their trace bounds.
  const trace = products.reduce((sum, row, at) => sum + row[at]! + 1, 0);
  const rate = 1 / (trace / rows / 2 + decay);
  const momentum = (1 - Math.sqrt(rate * decay)) / (1 + Math.sqrt(rate * decay));
  const logits = new Float64Array(classes);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const next = ahead.map((shares) => shares.map((share, at) => (at < rows ? share * (1 - rate * decay) : share)));
    for (let row = 0; row < rows; row += 1) {
      for (let k = 0; k < classes; k += 1) logits[k] = dot(products[row]!, ahead[k]!) + ahead[k]![rows]!;
      softmax(logits);
      for (let k = 0; k < classes; k += 1) {
        const slope = (rate * (logits[k]! - Number(targets[row] === k))) / rows;
        next[k]![row]! -= slope;
        next[k]![rows]! -= slope;
      }
    }
    let moved = 0;
    ahead = next.map((shares, k) =>
      shares.map((share, at) => {
        const change = share - now[k]![at]!;
        moved = Math.max(moved, Math.abs(change));
        return share + momentum * change;
      }),
    );
    now = next;
    if (moved < STILL) break;
  }
  const heads = now.map((shares) => {
    const weights = new Float64Array(vectors[0]!.length);
    for (const [row, vector] of vectors.entries())
      for (let at = 0; at < weights.length; at += 1) weights[at]! += shares[row]! * vector[at]!;
    return { weights, bias: shares[rows]! };
  });
  const label = (vector: Float32Array): number => {
    const all = heads.map(({ weights, bias }) => dot(weights, vector) + bias);
    return all.indexOf(Math.max(...all));
  };
  return { weights: heads.map(({ weights }) => weights), label };
}
