import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fitAnomaly } from '../../native/anomaly.js';
import type { AnomalyFitOptions } from '../../native/contract.js';
import { loadCore } from '../../native/core.js';
import { type Dataset, datasets, rocArea } from '../support/anomaly/datasets.js';

/** What golden.py wrote of one data set. */
interface Golden {
  sum: number;
  /** Raw scores of the queries. */
  scores?: number[];
  /** Of the large clusters. */
  centres?: number[];
  /** Areas under the ROC curve of the fitted rows, one per seed. */
  areas?: number[];
}

const FOLDER = join(import.meta.dirname, '../../../test/support/anomaly/golden');
const SETS = datasets();
/** Of a raw score; the golden numbers have 10 digits. */
const NEAR = 1e-6;
/** Of the mean area of the seeds, above what so few seeds leave uncertain. */
const AREA_NEAR = 0.01;

/** Where a raw score may be off by more than rounding, by how much, and why. */
const SOLVER = 'The solver ends when no pair of weights breaks the conditions by more than 1e-3; equal kernels send it another way there.';
const TIES = 'More rows are as near as the k-th neighbour, and which of them count is not defined.';
const SUBSETS = 'Random searches end at different subsets of nearly the least determinant; the areas are compared.';
const allowed = (within: number, why: string, ...names: string[]): Record<string, { within: number; why: string } | undefined> =>
  Object.fromEntries(names.map((name) => [name, { within, why }]));
const TOLERANCES: Record<string, ReturnType<typeof allowed>> = {
  one_class_svm: allowed(1e-3, SOLVER, 'unequal density', 'heavy tails', 'duplicates', 'skewed', 'far from zero', 'tiny numbers'),
  mcd: allowed(
    Number.POSITIVE_INFINITY,
    SUBSETS,
    'correlated',
    'cube',
    'far from zero',
    'blobs in 20 columns',
    'uneven clusters',
    '1200 rows',
  ),
  local_outlier_factor: {
    ...allowed(Number.POSITIVE_INFINITY, TIES, 'duplicates'),
    ...allowed(0.01, TIES, 'counts'),
  },
};

const options = (backend: string, columns: number, rest: Partial<AnomalyFitOptions> = {}): AnomalyFitOptions => ({
  backend,
  columns,
  contamination: 0.1,
  normalization: 'raw',
  scaled: false,
  threads: 2,
  ...rest,
});

const golden = (backend: string): Record<string, Golden> =>
  (JSON.parse(readFileSync(join(FOLDER, `${backend}.json`), 'utf8')) as { datasets: Record<string, Golden> }).datasets;

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The standard error of a mean. */
const uncertainty = (values: number[]): number => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)) / (values.length - 1));

const rowsOf = (numbers: ArrayLike<number>, columns: number): number[][] =>
  Array.from({ length: numbers.length / columns }, (_, row) => Array.from({ length: columns }, (_, k) => numbers[row * columns + k]!)).sort(
    (a, b) => a.map((value, k) => value - b[k]!).find((difference) => difference !== 0) ?? 0,
  );

/** Whether each large cluster of one k-means is one of the other's. */
function sameCentres(ours: Float64Array, theirs: number[], columns: number): boolean {
  const [left, right] = [rowsOf(ours, columns), rowsOf(theirs, columns)];
  return (
    left.length === right.length &&
    left.every((row, i) => row.every((value, k) => Math.abs(value - right[i]![k]!) <= 1e-6 * (1 + Math.abs(value))))
  );
}

/** Compares raw scores; says false where they cannot be compared. */
async function compareScores(backend: string, set: Dataset, expected: Golden): Promise<boolean> {
  const { model } = await fitAnomaly(options(backend, set.columns), set.fitted);
  if (expected.centres && !sameCentres((await model.state())['detector.centres'] as Float64Array, expected.centres, set.columns))
    return false;
  const largest = Math.max(...expected.scores!.map(Math.abs));
  const { raw } = await model.score(set.queries);
  for (const [row, score] of expected.scores!.entries()) {
    const off = Math.abs(raw[row]! - score);
    // A score near 0 is a difference of larger numbers.
    const within = TOLERANCES[backend]?.[set.name]?.within ?? NEAR * (Math.abs(score) + largest / 1000);
    assert.ok(off <= within, `${set.name}, row ${row}: ${raw[row]}, expected ${score}`);
  }
  return true;
}

async function compareAreas(backend: string, set: Dataset, areas: number[]): Promise<void> {
  const ours: number[] = [];
  for (const seed of areas.keys()) {
    const { model } = await fitAnomaly(options(backend, set.columns, { seed: seed + 1 }), set.fitted);
    ours.push(rocArea(set.labels, (await model.score(set.fitted)).raw));
  }
  const near = AREA_NEAR + 2 * Math.hypot(uncertainty(ours), uncertainty(areas));
  const text = `${set.name}: ROC AUC ${mean(ours).toFixed(4)}, the reference's ${mean(areas).toFixed(4)}, allowed ${near.toFixed(4)}`;
  if (process.env.QUERN_TEST_SHOW) process.stdout.write(`${backend}, ${text}\n`);
  assert.ok(Math.abs(mean(ours) - mean(areas)) <= near, text);
}

for (const backend of loadCore().anomalyBackends())
  test(`${backend} is what scikit-learn and PyOD compute`, async (t) => {
    if (!existsSync(join(FOLDER, `${backend}.json`))) return t.skip('golden.py has not been run for it');
    const known = golden(backend);
    let [scores, areas] = [0, 0];
    for (const set of SETS) {
      const expected = known[set.name];
      if (!expected) continue;
      const sum = set.fitted.reduce((total, value) => total + value, 0);
      assert.ok(Math.abs(sum - expected.sum) <= 1e-8 * (1 + Math.abs(sum)), `${set.name} is another data set than golden.py's: ${sum}`);
      if (expected.scores && (await compareScores(backend, set, expected))) scores += 1;
      if (expected.areas) {
        await compareAreas(backend, set, expected.areas);
        areas += 1;
      }
    }
    assert.ok(scores + areas >= 4, `only ${scores} scores and ${areas} areas were compared`);
  });
