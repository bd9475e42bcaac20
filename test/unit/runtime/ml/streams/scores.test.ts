import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { binEdges, binOf, driftOf, learnedFrom, scoreOf, thresholdOf } from '../../../../../runtime/ml/streams/scores.js';
import { fitAnomaly } from '../../../../support/anomaly/fit.js';
import { STREAM_SETTINGS } from '../../../../support/stream-settings.js';

/** The data of the reference numbers. */
const T = [1, 2, 1.1, 2.1, 0.9, 1.9, 1.05, 2.2, 0.95, 1.8, 1.2, 2.05, 0.8, 1.95, 1, 2.3, 1.15, 1.85, 0.85, 2.15, 1.3, 2.4, 0.7, 1.6];
const Q = [1, 2, 1.5, 2.5, 100, 200, -5, 0];

describe('scores of streams', () => {
  it('are a logistic curve over deviations of the population from the mean', () => {
    const learned = learnedFrom(Float64Array.of(1, 2, 3, 4), 0.25);
    assert.deepEqual([learned.mean, learned.deviation, learned.cut], [2.5, Math.sqrt(1.25), 3.25]);
    assert.equal(scoreOf(2.5, learned, STREAM_SETTINGS), 0.5);
    assert.equal(scoreOf(2.5 + Math.sqrt(1.25), learned, STREAM_SETTINGS), 1 / (1 + Math.exp(-1)));
    assert.equal(scoreOf(2.5 + Math.sqrt(1.25), learned, { ...STREAM_SETTINGS, normalization: 'zscore' }), 1);
    assert.equal(scoreOf(7, learned, { ...STREAM_SETTINGS, normalization: 'raw' }), 7);
    assert.equal(learnedFrom(Float64Array.of(2, 2, 2), 0.1).deviation, 1);
    assert.ok(scoreOf(1e9, learned, STREAM_SETTINGS) <= 1 && scoreOf(-1e9, learned, STREAM_SETTINGS) >= 0);
  });

  it('have the thresholds of their normalisation', () => {
    assert.equal(thresholdOf(STREAM_SETTINGS), 0.5);
    assert.equal(thresholdOf({ ...STREAM_SETTINGS, normalization: 'zscore' }), 2);
    assert.equal(thresholdOf({ ...STREAM_SETTINGS, normalization: 'raw' }), null);
    assert.equal(thresholdOf({ ...STREAM_SETTINGS, normalization: 'raw' }, { cut: 7 }), 7);
    assert.equal(thresholdOf({ ...STREAM_SETTINGS, threshold: 0.9 }), 0.9);
  });

  it('of ECOD rank the reference data as the pooled scores of the reference system do, row by row', async () => {
    const { model } = await fitAnomaly(
      { backend: 'ecod', columns: 2, contamination: 0.1, normalization: 'raw', scaled: false, threads: 1 },
      Float64Array.from(T),
    );
    const { raw } = await model.score(Float64Array.from(Q));
    // Pooled, the reference has 1.268511 4.158883 5.545177 5.545177: there a row's score depends on the other rows of its request.
    assert.deepEqual(
      [...raw].map((score) => score.toFixed(6)),
      ['1.104547', '5.129899', '5.129899', '5.129899'],
    );
    for (let row = 0; row < 4; row += 1) assert.equal(model.scoreRow(Float64Array.of(Q[2 * row]!, Q[2 * row + 1]!)).raw, raw[row]);
    const learned = learnedFrom((await model.score(Float64Array.from(T))).raw, 0.1);
    const scores = [...raw].map((score) => scoreOf(score, learned, STREAM_SETTINGS));
    assert.ok(scores[0]! < 0.5 && scores.slice(1).every((score) => score > 0.9), String(scores));
  });
});

describe('drift', () => {
  const uniform = Float64Array.from({ length: 1000 }, (_, index) => index / 1000);
  const edges = binEdges(uniform);
  const counts = (values: readonly number[]): number[] => {
    const bins = new Array<number>(edges.length + 1).fill(0);
    for (const value of values) bins[binOf(edges, value)]! += 1;
    return bins;
  };
  const expected = counts([...uniform]);

  it('has bins of equally many learned scores', () => assert.deepEqual(expected, new Array(10).fill(100)));

  it('is unknown under 30 scores', () =>
    assert.deepEqual(driftOf(expected, counts([0.1, 0.2])), { value: null, samples: 2, level: 'unknown' }));

  it('is none for the same distribution, strong for another', () => {
    assert.equal(driftOf(expected, counts([...uniform].filter((_, index) => index % 3 === 0))).level, 'none');
    const moved = driftOf(expected, counts(Array(100).fill(0.95)));
    assert.equal(moved.level, 'strong');
    const [p, q] = [100.5 / 105, 0.1];
    const rest = 0.5 / 105;
    assert.ok(Math.abs(moved.value! - ((p - q) * Math.log(p / q) + 9 * (rest - q) * Math.log(rest / q))) < 1e-12);
  });

  it('knows a single bin where all learned scores are equal', () => {
    const flat = binEdges(new Float64Array(50).fill(3));
    assert.deepEqual([flat, binOf(flat, 2), binOf(flat, 3)], [[3], 0, 1]);
  });
});
