import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AnomalyFitOptions, NativeAnomalyModel } from '../../native/contract.js';
import { loadCore } from '../../native/core.js';
import { type Dataset, datasets, rocArea } from '../support/anomaly/datasets.js';
import { AREAS_OFF, BY_CHANCE, BY_SEARCH, COMPARED, RESTLESS, SCORES_OFF, WITHOUT_CHANCE } from '../support/anomaly/differences.js';
import { fitAnomaly } from '../support/anomaly/fit.js';

/** What golden.py wrote of one data set. */
interface Golden {
  sum: number;
  /** Raw scores of the queries. */
  scores?: number[];
  /** How far apart the reference's own answers are, where it depends on its search. */
  spread?: number[];
  /** Of the large clusters. */
  centres?: number[];
  /** Areas under the ROC curve of the fitted rows, one per seed or search. */
  areas?: number[];
}

const FOLDER = join(import.meta.dirname, '../../../test/support/anomaly/golden');
const SETS = datasets();
/** Of a raw score; the golden numbers have 10 digits. */
const NEAR = 1e-6;
/** Of the mean area of the seeds. */
const AREA_NEAR = 0.01;
/** Seeds of a random search that may end where the reference's did. */
const TRIES = 80;

const golden = (backend: string): Record<string, Golden> =>
  (JSON.parse(readFileSync(join(FOLDER, `${backend}.json`), 'utf8')) as { datasets: Record<string, Golden> }).datasets;

async function fit(backend: string, set: Dataset, seed: number): Promise<NativeAnomalyModel> {
  const options: AnomalyFitOptions = {
    backend,
    columns: set.columns,
    contamination: 0.1,
    normalization: 'raw',
    scaled: false,
    threads: 2,
    seed,
  };
  return (await fitAnomaly(options, set.fitted)).model;
}

const show = (line: string): void => void (process.env.QUERN_TEST_SHOW && process.stdout.write(`${line}\n`));

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The standard error of a mean. */
const uncertainty = (values: number[]): number => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)) / (values.length - 1));

const rowsOf = (numbers: ArrayLike<number>, columns: number): number[][] =>
  Array.from({ length: numbers.length / columns }, (_, row) => Array.from({ length: columns }, (_, k) => numbers[row * columns + k]!)).sort(
    (a, b) => a.map((value, k) => value - b[k]!).find((difference) => difference !== 0) ?? 0,
  );

/** Whether each large cluster of one k-means is one of the other's; in parts of how far apart the clusters are. */
function sameCentres(ours: Float64Array, theirs: number[], columns: number): boolean {
  const [left, right] = [rowsOf(ours, columns), rowsOf(theirs, columns)];
  if (left.length !== right.length) return false;
  const apart = left[0]!.map((_, k) => Math.max(...left.map((row) => row[k]!)) - Math.min(...left.map((row) => row[k]!)));
  return left.every((row, i) =>
    row.every((value, k) => Math.abs(value - right[i]![k]!) <= NEAR * Math.max(...apart) + 1e-9 * Math.abs(value)),
  );
}

/** The first raw score that is not the expected one, in words. */
async function wrongScore(backend: string, set: Dataset, expected: Golden, model: NativeAnomalyModel): Promise<string | undefined> {
  const scores = expected.scores!;
  const largest = Math.max(...scores.map(Math.abs));
  const { raw } = await model.score(set.queries);
  // A score near 0 is a difference of larger numbers. Two choices among equally near rows may lie on either side of a third.
  const within = (row: number): number =>
    SCORES_OFF[backend]?.[set.name]?.within ?? NEAR * (Math.abs(scores[row]!) + largest / 1000) + 2 * (expected.spread?.[row] ?? 0);
  const wrong = scores.findIndex((score, row) => !(Math.abs(raw[row]! - score) <= within(row)));
  return wrong < 0 ? undefined : `${set.name}, row ${wrong}: ${raw[wrong]}, expected ${scores[wrong]} within ${within(wrong)}`;
}

/** Whether raw scores agree: what is wrong with them, or false where a random search never ends where the reference's did. */
async function compareScores(backend: string, set: Dataset, expected: Golden): Promise<boolean | string> {
  for (let seed = 1; seed <= (BY_SEARCH.includes(backend) ? TRIES : 1); seed += 1) {
    const model = await fit(backend, set, seed);
    if (expected.centres && !sameCentres((await model.state())['detector.centres'] as Float64Array, expected.centres, set.columns))
      continue;
    const wrong = await wrongScore(backend, set, expected, model);
    if (wrong === undefined) return true;
    // The same centres must give the same scores; of the least determinant only the scores tell whether it is the same.
    if (backend !== 'mcd') return wrong;
  }
  return false;
}

/** What is wrong with the areas, and by how much they are larger than the reference's. */
async function compareAreas(backend: string, set: Dataset, areas: number[]): Promise<{ wrong?: string; larger: number }> {
  const fixed = WITHOUT_CHANCE.includes(backend);
  const ours: number[] = [];
  for (let seed = 1; seed <= (fixed ? 1 : (RESTLESS[backend]?.seeds ?? areas.length)); seed += 1)
    ours.push(rocArea(set.labels, (await (await fit(backend, set, seed)).score(set.fitted)).raw));
  const found = mean(ours);
  const theirs = fixed ? areas.reduce((best, area) => (Math.abs(area - found) < Math.abs(best - found) ? area : best)) : mean(areas);
  const known = AREAS_OFF[backend]?.[set.name];
  const near =
    AREA_NEAR +
    (BY_CHANCE[backend]?.[set.name] === undefined
      ? 0
      : (RESTLESS[backend]?.errors ?? 2) * Math.hypot(uncertainty(ours), uncertainty(areas)));
  const text = `${set.name}: ROC AUC ${found.toFixed(4)}, the reference's ${theirs.toFixed(4)}, allowed ${near.toFixed(4)}`;
  show(`${backend}, ${text}`);
  if (!(Math.abs(found - (known?.ours ?? theirs)) <= near)) return { wrong: text, larger: found - theirs };
  if (known && Math.abs(found - theirs) <= AREA_NEAR) return { wrong: `${text}: it is no difference any more`, larger: 0 };
  return { larger: known ? 0 : found - theirs };
}

for (const backend of loadCore().anomalyBackends())
  test(`${backend} is what scikit-learn and PyOD compute`, async () => {
    const known = golden(backend);
    const compared = { scores: 0, areas: 0, sets: 0 };
    const wrong: string[] = [];
    const larger: number[] = [];
    for (const set of SETS) {
      const expected = known[set.name];
      if (!expected) continue;
      const sum = set.fitted.reduce((total, value) => total + value, 0);
      assert.ok(Math.abs(sum - expected.sum) <= 1e-8 * (1 + Math.abs(sum)), `${set.name} is another data set than golden.py's: ${sum}`);
      const scores = expected.scores !== undefined && (await compareScores(backend, set, expected));
      const areas = expected.areas && (await compareAreas(backend, set, expected.areas));
      for (const one of [scores, areas?.wrong]) if (typeof one === 'string') wrong.push(one);
      if (areas) larger.push(areas.larger);
      if (!scores && expected.scores) show(`${backend}, ${set.name}: no raw scores`);
      compared.scores += Number(scores === true);
      compared.areas += Number(expected.areas !== undefined);
      compared.sets += Number(scores === true || expected.areas !== undefined);
    }
    show(`${backend}: ${JSON.stringify(compared)}`);
    assert.deepEqual(wrong, []);
    // What chance leaves of a set's area is nearly gone from the mean of all sets: nothing is allowed for it here.
    if (larger.length > 0) show(`${backend}: larger by ${mean(larger).toFixed(4)} in the mean of ${larger.length} data sets`);
    assert.ok(
      larger.length === 0 || Math.abs(mean(larger)) <= AREA_NEAR,
      `areas are larger by ${mean(larger)} in the mean of all data sets`,
    );
    const least = COMPARED[backend];
    assert.ok(least && least.sets >= 20, 'every detector is compared on 20 data sets');
    for (const by of ['scores', 'areas', 'sets'] as const)
      assert.ok(compared[by] >= least[by], `compared by ${by} on ${compared[by]} data sets, not on ${least[by]}`);
  });
