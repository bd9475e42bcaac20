/** How far a raw score may be off by more than rounding, and why. */
export interface ScoreDifference {
  within: number;
  why: string;
}

/** The mean area of ours, where it is not within 0.01 of the reference's, and why. */
export interface AreaDifference {
  ours: number;
  why: string;
}

/** On how many data sets a detector is compared, at least: by raw score, by area, by either. */
export interface Compared {
  scores: number;
  areas: number;
  sets: number;
}

type Table<T> = Record<string, Record<string, T | undefined> | undefined>;

const SOLVER = 'The solver ends when no pair of weights breaks the conditions by more than 1e-3; equal kernels send it another way there.';
const off = (within: number, why: string, ...names: string[]): Record<string, ScoreDifference> =>
  Object.fromEntries(names.map((name) => [name, { within, why }]));

const TIES = 'More rows are as near as the k-th neighbour, and which of them count is not defined.';

/** By detector and data set. */
export const SCORES_OFF: Table<ScoreDifference> = {
  one_class_svm: off(1e-3, SOLVER, 'unequal density', 'heavy tails', 'duplicates', 'skewed', 'far from zero', 'tiny numbers'),
  local_outlier_factor: off(0.01, TIES, 'counts'),
};

const CONSISTENCY =
  'The raw estimate is made consistent by the median, as the scores to be met are (scikit-learn 1.2.1), not by the factor of scikit-learn 1.9; so other rows take part in the final one. By the median its areas are ours.';

/** By detector and data set. */
export const AREAS_OFF: Table<AreaDifference> = {
  mcd: {
    // The reference's are 0.2516 and 0.7717.
    ring: { ours: 0.195, why: CONSISTENCY },
    skewed: { ours: 0.758, why: CONSISTENCY },
  },
};

/**
 * Where so few seeds leave the mean area uncertain by more than 0.01: by how much ours was larger than the reference's when it was measured. Chance, not
 * a difference of method: no set is off by more than the standard errors that are allowed, and the mean of all sets is within 0.01 without them.
 */
export const BY_CHANCE: Table<number> = {
  autoencoder: {
    'blobs in 2 columns': 0.0159,
    'unequal density': 0.0001,
    correlated: 0.0051,
    'categorical mix': 0.0131,
    'constant columns': 0.0033,
    'one column': -0.0174,
    '300 columns': 0.0146,
    duplicates: -0.015,
    ring: -0.0182,
    line: -0.0317,
    cube: -0.0058,
    skewed: -0.0073,
    'far from zero': 0.0304,
    'tiny numbers': -0.005,
    counts: 0.0069,
    shell: -0.0362,
    'uneven clusters': 0.0401,
    '1200 rows': 0.003,
  },
  cblof: {
    'one column': 0.0126,
    line: -0.0193,
  },
  loda: {
    'heavy tails': 0.0185,
    'categorical mix': -0.0251,
  },
};

/** Detectors without chance: their areas are compared with each of the reference's searches, not with a mean. */
export const WITHOUT_CHANCE = ['local_outlier_factor'];

/**
 * Detectors whose scores are exact but for a random search (k-means, the least determinant): seeds are tried until ours ends where
 * the reference's did. Where none does, the areas are compared alone.
 */
export const BY_SEARCH = ['cblof', 'mcd'];

/**
 * Detectors whose area depends much on the seed, and in the last bits on the processor: seeds of ours, more than of the reference, which takes
 * 50 times as long, and how many standard errors are allowed.
 */
export const RESTLESS: Record<string, { seeds: number; errors: number } | undefined> = { autoencoder: { seeds: 40, errors: 3 } };

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
