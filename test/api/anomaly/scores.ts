import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { BACKENDS } from '../../../runtime/ml/anomaly/backends.js';
import { ODD, ROWS, requests, shelf } from '../../support/anomaly/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** Fits by each backend, scores, thresholds and rows that do not fit the model. */
export const scores = (base: string): Scenario[] => {
  const { row, post, refused, fit } = requests(base);
  return [
    // All twelve
    ...BACKENDS.map(({ backend }) =>
      row(`fits ${backend}`, 'fit', { model: 'all', backend, data: ROWS, overwrite: true, epochs: 5 }, (body) => {
        assert.deepEqual(
          [body.object, body.model, body.backend, body.samples_fitted, body.status],
          ['fit_result', 'all', backend, 120, 'fitted'],
        );
        assert.deepEqual([body.base_name, body.versioned_name, body.overwrite, body.encoder], ['all', 'all', true, null]);
        assert.deepEqual([body.model_params.backend, body.model_params.contamination, body.model_params.input_dim], [backend, 0.1, 2]);
        assert.ok(body.model_params.threshold > 0 && body.model_params.threshold < 1 && body.training_time_ms > 0);
        assert.equal(body.saved_path, shelf(`all_${backend}.pkl`));
        assert.ok(existsSync(body.saved_path));
      }),
    ),
    ...BACKENDS.map(({ backend }) =>
      row(
        `scores by ${backend}`,
        'score',
        { model: 'all', backend, data: [...ROWS, ODD], explain: true, feature_names: ['a', 'b'] },
        (body) => {
          assert.deepEqual([body.object, body.model, body.backend, body.total_count, body.data.length], ['list', 'all', backend, 121, 121]);
          const odd = body.data[120];
          const flagged = body.data.filter((one: { is_anomaly: boolean }) => one.is_anomaly).length;
          assert.ok(odd.is_anomaly || odd.score > 0.9, `${odd.score} of ${body.summary.threshold}`);
          assert.ok(flagged >= 10 && flagged <= 16, `${flagged} flagged`);
          assert.deepEqual([body.summary.total_points, body.summary.anomaly_count], [121, flagged]);
          assert.equal(body.summary.anomaly_rate, flagged / 121);
          for (const [index, one] of body.data.entries()) {
            assert.equal(one.index, index);
            assert.ok(one.score >= 0 && one.score <= 1 && one.is_anomaly === one.score > body.summary.threshold);
            assert.deepEqual(Object.keys(one.contributions), ['a', 'b']);
          }
        },
      ),
    ),
    row('detects what score flags', 'detect', { model: 'all', backend: 'ecod', data: [...ROWS, ODD] }, (body) => {
      assert.deepEqual([body.object, body.model, body.backend], ['list', 'all', 'ecod']);
      assert.ok(body.data.length >= 10 && body.data.length <= 16);
      assert.deepEqual([body.total_count, body.summary.anomalies_detected], [body.data.length, body.data.length]);
      assert.deepEqual(Object.keys(body.data[0]), ['index', 'score', 'raw_score']);
      assert.equal(body.data.at(-1).index, 120);
      for (const one of body.data) assert.ok(one.score > body.summary.threshold);
    }),

    // Thresholds and normalisations
    post('score', { model: 'all', backend: 'ecod', data: ROWS, threshold: 0.95 }, (body) => assert.equal(body.summary.threshold, 0.95)),
    post('score', { model: 'all', backend: 'ecod', data: ROWS, threshold: -1 }, (body) =>
      assert.deepEqual([body.summary.anomaly_count, body.summary.threshold], [120, -1]),
    ),
    post('score', { model: 'all', backend: 'ecod', data: ROWS, threshold: 0 }, (body) => assert.ok(body.summary.threshold > 0.5)),
    post('score', { model: 'all', backend: 'ecod', data: [] }, (body) => assert.deepEqual([body.data, body.summary.anomaly_rate], [[], 0])),
    refused('score', { model: 'all', backend: 'ecod', data: ROWS, threshold: 'high' }, 422, ['body.threshold']),
    post('fit', fit({ model: 'plain', normalization: 'raw', overwrite: true })),
    post('score', { model: 'plain', backend: 'hbos', normalization: 'raw', data: [ODD, [0, 10]] }, (body) => {
      for (const one of body.data) assert.equal(one.score, one.raw_score);
      assert.deepEqual(
        body.data.map((one: { is_anomaly: boolean }) => one.is_anomaly),
        [true, false],
      );
    }),
    row('scores by the normalisation of the fit', 'score', { model: 'plain', backend: 'hbos', data: [ODD] }, (body) =>
      assert.equal(body.data[0].score, body.data[0].raw_score),
    ),
    refused('score', { model: 'plain', backend: 'hbos', normalization: 'zscore', data: [ODD] }, 400, [
      'Model not fitted with normalization \\"zscore\\"',
      '\\"raw\\"',
    ]),
    refused('score', { model: 'plain', backend: 'ecod', data: [ODD] }, 400, ['Model not fitted']),

    // Rows that do not fit the model
    refused('score', { model: 'all', backend: 'ecod', data: [[1, 2, 3]] }, 400, ['3 columns', 'fitted with 2']),
    refused('score', { model: 'all', backend: 'ecod', data: [[1, 2], [1]] }, 400, ['row 1 has 1 column']),
    refused(
      'score',
      {
        model: 'all',
        backend: 'ecod',
        data: [
          [1, 2],
          [1, 'x'],
        ],
      },
      400,
      ['row 1, column 1 is \\"x\\"'],
    ),
    refused('score', { model: 'all', backend: 'ecod', data: [{ a: 1 }] }, 400, ['rows are objects', 'no encoder']),
    refused('score', { model: 'all', backend: 'ecod', data: [ODD], explain: true, feature_names: ['a'] }, 400, ['1 names', '2 columns']),
    refused(
      'score',
      () => ({ model: 'all', backend: 'ecod', data: Array(500_001).fill([1, 2]), explain: true }),
      413,
      ['1000002 contributions'],
      'score 413 too much to explain',
    ),
  ];
};
