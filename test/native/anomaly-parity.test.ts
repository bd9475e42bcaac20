import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeAnomalyModel } from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { areaOf, KNOWN, meanArea } from '../support/anomaly/areas.js';
import { type Dataset, datasets } from '../support/anomaly/datasets.js';
import { BY_SEARCH, COMPARED, SCORES_OFF } from '../support/anomaly/differences.js';
import { modelOf } from '../support/anomaly/fit.js';
import { type Golden, golden, type MeanArea, ownAreas } from '../support/anomaly/golden.js';

const SETS = datasets();
const RECORDED = ownAreas();
/** Of a raw score; the golden numbers have 10 digits. */
const NEAR = 1e-6;
/** Of an area under the ROC curve. */
const AREA_NEAR = 0.01;
/** Most standard error of a mean area of the reference. */
const REFERENCE_ERROR = 0.004;
/** Seeds that tell whether a detector still has the areas that were recorded of it, and by how many standard errors, and how much besides, they may differ. */
const SEEDS = 40;
const ERRORS = 4;
const BESIDES = 0.002;
/** Seeds of a random search that may end where the reference's did. */
const TRIES = 80;

const show = (line: string): void => void (process.env.QUERN_TEST_SHOW && process.stdout.write(`${line}\n`));

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
    const model = await modelOf(backend, set, seed);
    if (expected.centres && !sameCentres((await model.state())['detector.centres'] as Float64Array, expected.centres, set.columns))
      continue;
    const wrong = await wrongScore(backend, set, expected, model);
    if (wrong === undefined) return true;
    // The same centres must give the same scores; of the least determinant only the scores tell whether it is the same.
    if (backend !== 'mcd') return wrong;
  }
  return false;
}

/** What is wrong with an area of ours, by the reference's. */
function wrongArea(backend: string, set: Dataset, ours: number, theirs: number): string | undefined {
  const text = `${set.name}: ROC AUC ${ours.toFixed(4)}, the reference's ${theirs.toFixed(4)}`;
  show(`${backend}, ${text}`);
  return Math.abs(ours - theirs) <= AREA_NEAR ? undefined : text;
}

/** Compares a detector without chance, by the nearest of the reference's searches. */
async function compareArea(backend: string, set: Dataset, searches: number[]): Promise<string | undefined> {
  const ours = await areaOf(backend, set, 1);
  const nearest = searches.reduce((best, area) => (Math.abs(area - ours) < Math.abs(best - ours) ? area : best));
  return wrongArea(backend, set, ours, nearest);
}

/** Compares one that draws at random: the recorded mean with the reference's, and that of a few seeds with the record; `off` by how much it is larger. */
async function compareMeanArea(backend: string, set: Dataset, theirs: MeanArea): Promise<{ wrong: string | undefined; off: number }> {
  const recorded = RECORDED[backend]?.[set.name];
  if (!recorded) return { wrong: `${set.name}: run record-areas.ts, which has not recorded its area yet`, off: 0 };
  if (!(theirs.error <= REFERENCE_ERROR && recorded.error <= KNOWN.error)) return { wrong: `${set.name}: too few seeds`, off: 0 };
  const off = (await meanArea(backend, set, SEEDS)).mean - recorded.mean;
  const allowed = ERRORS * recorded.error * Math.sqrt(recorded.seeds / SEEDS) + BESIDES;
  if (!(Math.abs(off) <= allowed))
    return { wrong: `${set.name}: ROC AUC is off by ${off} from what was recorded, allowed is ${allowed}`, off };
  return { wrong: wrongArea(backend, set, recorded.mean, theirs.mean), off };
}

for (const backend of loadCore().anomalyBackends())
  test(`${backend} is what scikit-learn and PyOD compute`, async () => {
    const known = golden(backend);
    const compared = { scores: 0, areas: 0, sets: 0 };
    const wrong: string[] = [];
    const off: number[] = [];
    for (const set of SETS) {
      const expected = known[set.name];
      if (!expected) continue;
      const sum = set.fitted.reduce((total, value) => total + value, 0);
      assert.ok(Math.abs(sum - expected.sum) <= 1e-8 * (1 + Math.abs(sum)), `${set.name} is another data set than golden.py's: ${sum}`);
      const scores = expected.scores !== undefined && (await compareScores(backend, set, expected));
      const mean = expected.area && (await compareMeanArea(backend, set, expected.area));
      const nearest = expected.searches && (await compareArea(backend, set, expected.searches));
      for (const one of [scores, mean?.wrong, nearest]) if (typeof one === 'string') wrong.push(one);
      if (mean) off.push(mean.off);
      const hasArea = (expected.area ?? expected.searches) !== undefined;
      if (!scores && expected.scores) show(`${backend}, ${set.name}: no raw scores`);
      compared.scores += Number(scores === true);
      compared.areas += Number(hasArea);
      compared.sets += Number(scores === true || hasArea);
    }
    show(`${backend}: ${JSON.stringify(compared)}`);
    assert.deepEqual(wrong, []);
    // What chance leaves open of a set's area is nearly gone from the mean of all sets.
    const all = off.reduce((sum, one) => sum + one, 0) / Math.max(1, off.length);
    assert.ok(Math.abs(all) <= AREA_NEAR, `areas are off by ${all} from what was recorded, in the mean of all data sets`);
    const least = COMPARED[backend];
    assert.ok(least && least.sets >= 20, 'every detector is compared on 20 data sets');
    for (const by of ['scores', 'areas', 'sets'] as const)
      assert.ok(compared[by] >= least[by], `compared by ${by} on ${compared[by]} data sets, not on ${least[by]}`);
  });
