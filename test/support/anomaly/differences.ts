/** How far a raw score may be off by more than rounding, and why. */
export interface ScoreDifference {
  within: number;
  why: string;
}

/** On how many data sets a detector is compared, at least: by raw score, by area, by either. */
export interface Compared {
  scores: number;
  areas: number;
  sets: number;
}

const SOLVER = 'The solver ends when no pair of weights breaks the conditions by more than 1e-3; equal kernels send it another way there.';
const off = (within: number, why: string, ...names: string[]): Record<string, ScoreDifference> =>
  Object.fromEntries(names.map((name) => [name, { within, why }]));

const TIES = 'More rows are as near as the k-th neighbour, and which of them count is not defined.';

/** By detector and data set. */
export const SCORES_OFF: Record<string, Record<string, ScoreDifference | undefined> | undefined> = {
  one_class_svm: off(1e-3, SOLVER, 'unequal density', 'heavy tails', 'duplicates', 'skewed', 'far from zero', 'tiny numbers'),
  local_outlier_factor: off(0.01, TIES, 'counts'),
};

/**
 * Detectors whose scores are exact but for a random search (k-means, the least determinant): seeds are tried until ours ends where
 * the reference's did. Where none does, the areas are compared alone.
 */
export const BY_SEARCH = ['cblof', 'mcd'];

/** By detector; a detector that is not here fails. */
export const COMPARED: Record<string, Compared | undefined> = {
  autoencoder: { scores: 0, areas: 21, sets: 21 },
  cblof: { scores: 20, areas: 18, sets: 30 },
  copod: { scores: 24, areas: 0, sets: 24 },
  ecod: { scores: 24, areas: 0, sets: 24 },
  hbos: { scores: 24, areas: 0, sets: 24 },
  isolation_forest: { scores: 0, areas: 21, sets: 21 },
  knn: { scores: 24, areas: 0, sets: 24 },
  local_outlier_factor: { scores: 24, areas: 21, sets: 24 },
  loda: { scores: 0, areas: 21, sets: 21 },
  mcd: { scores: 15, areas: 20, sets: 21 },
  one_class_svm: { scores: 24, areas: 0, sets: 24 },
  suod: { scores: 0, areas: 21, sets: 21 },
};
