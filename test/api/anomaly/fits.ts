import assert from 'node:assert/strict';
import { loadCore } from '../../../native/loader.js';
import { files, LOGINS, ROWS, requests, SCHEMA } from '../../support/anomaly/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** What there is before a fit, and data that cannot be learned from. */
export const fits = (base: string): Scenario[] => {
  const { row, refused, fit } = requests(base);
  return [
    {
      name: 'lists the twelve backends in the order of their categories',
      path: `${base}/backends`,
      json: (body) => {
        assert.equal(body.object, 'list');
        assert.equal(body.total, 12);
        assert.deepEqual(body.categories, ['legacy', 'fast', 'distance', 'clustering', 'ensemble', 'streaming', 'deep_learning']);
        assert.deepEqual(body.data.map((one: { backend: string }) => one.backend).sort(), [...loadCore().anomalyBackends()].sort());
        const legacy = body.data.filter((one: { is_legacy: boolean }) => one.is_legacy);
        assert.deepEqual(
          legacy.map((one: { backend: string }) => one.backend),
          ['isolation_forest', 'local_outlier_factor', 'one_class_svm', 'autoencoder'],
        );
        for (const one of body.data)
          for (const key of ['name', 'description', 'category', 'speed', 'memory', 'parameters', 'best_for'])
            assert.ok(one[key].length > 0, key);
      },
    },
    {
      name: 'lists no models where there is no folder',
      path: `${base}/models`,
      json: (body) => assert.deepEqual([body.object, body.data, body.total], ['list', [], 0]),
    },

    // Before a fit
    refused('score', { model: 'nobody', backend: 'ecod', data: [[1, 2]] }, 400, ['Model not fitted', 'nobody', 'ecod']),
    refused('detect', { model: 'nobody', data: [[1, 2]] }, 400, ['Model not fitted']),
    refused('score', { model: 'nobody-latest', data: [[1, 2]] }, 400, ['Model not fitted']),
    refused('save', { model: 'nobody' }, 404, ['nobody']),
    refused('load', { model: 'nobody' }, 404, ['nobody', 'The folder is empty']),
    {
      name: 'remembers nothing of a model that was never fitted',
      path: `${base}/models`,
      json: (body) => assert.deepEqual([body.total, files()], [0, []]),
    },

    // Bad fits
    refused('fit', fit({ data: [] }), 400, ['at least 2']),
    refused('fit', fit({ data: [[1, 2]] }), 400, ['data has 1 rows', 'at least 2']),
    refused('fit', fit({ data: [[1, 2], [3]] }), 400, ['row 1 has 1 column, row 0 has 2']),
    refused('fit', fit({ data: [[1, 2], 5] }), 400, ['row 1 is 5']),
    refused('fit', fit({ data: [1, 2, 3] }), 400, ['row 0 is 1']),
    refused('fit', fit({ data: [[], []] }), 400, ['row 0 is empty']),
    refused(
      'fit',
      fit({
        data: [
          [1, 2],
          [3, 'x'],
        ],
      }),
      400,
      ['row 1, column 1 is \\"x\\"', '"loc":["body","data",1,1]'],
    ),
    refused(
      'fit',
      fit({
        data: [
          [1, 2],
          [null, 4],
        ],
      }),
      400,
      ['row 1, column 0 is null'],
    ),
    refused(
      'fit',
      fit({
        data: [
          [1, 2],
          [true, 4],
        ],
      }),
      400,
      ['row 1, column 0 is true'],
    ),
    refused(
      'fit',
      fit({
        data: [
          [1, 2],
          ['NaN', 4],
        ],
      }),
      400,
      ['row 1, column 0 is \\"NaN\\"'],
    ),
    row('fit 400 infinity', 'fit', '{"backend":"hbos","data":[[1,2],[1e999,4]]}', {
      status: 400,
      headers: { 'content-type': 'application/json' },
      contains: ['row 1, column 0 is Infinity (a number too large for 64 bits)', '"input":"Infinity (a'],
    }),
    row('fit 422 NaN is no JSON', 'fit', '{"backend":"hbos","data":[[1,2],[NaN,4]]}', {
      status: 422,
      headers: { 'content-type': 'application/json' },
      contains: ['position 33'],
    }),
    refused(
      'fit',
      fit({
        data: [
          [1, 2],
          [1e101, 4],
        ],
      }),
      400,
      ['row 1, column 0 is 1e+101'],
    ),
    refused('fit', fit({ data: 'rows' }), 422, ['body.data: must be array']),
    refused('fit', {}, 422, ['body.data: is required']),
    refused('fit', fit({ contamination: 0 }), 422, ['body.contamination', 'must be > 0']),
    refused('fit', fit({ contamination: 0.6 }), 422, ['body.contamination', 'must be <= 0.5']),
    refused('fit', fit({ contamination: '0.1' }), 422, ['body.contamination']),
    ...['fit', 'score', 'detect', 'save', 'load'].map((verb) =>
      refused(verb, fit({ backend: 'oracle' }), 422, ['body.backend: Unknown backend; must be one of', 'isolation_forest', 'oracle']),
    ),
    row('score 422 an infinite threshold', 'score', '{"data":[[1,2]],"threshold":-1e999}', {
      status: 422,
      headers: { 'content-type': 'application/json' },
      contains: ['body.threshold', 'got -Infinity (a number too large for 64 bits)', '"input":"-Infinity (a'],
    }),
    row('fit 400 infinity in an object', 'fit', '{"backend":"hbos","schema":{"a":"numeric"},"data":[{"a":1},{"a":-1e999}]}', {
      status: 400,
      headers: { 'content-type': 'application/json' },
      contains: ['row 1, field \\"a\\" is -Infinity (a number too large for 64 bits)'],
    }),
    refused('fit', fit({ normalization: 'softmax' }), 422, ['body.normalization']),
    refused('fit', fit({ epochs: 0 }), 422, ['body.epochs']),
    refused('fit', fit({ batch_size: 1e9 }), 422, ['body.batch_size']),
    refused('fit', fit({ data: LOGINS }), 400, ['rows are objects', 'schema']),
    refused('fit', fit({ data: LOGINS, schema: { bytes: 'magic' } }), 400, [
      '\\"bytes\\"',
      '\\"magic\\"',
      'numeric, hash, label, onehot, binary, frequency',
    ]),
    refused('fit', fit({ data: LOGINS, schema: {} }), 400, ['no fields']),
    refused('fit', fit({ data: LOGINS, schema: { bytes: 5 } }), 422, ['body.schema.bytes']),
    refused('fit', fit({ data: [...LOGINS, [1]], schema: SCHEMA }), 400, ['row 60 is [1]']),
    refused('fit', fit({ data: ROWS, schema: SCHEMA }), 400, ['row 0', 'must be an object']),
    refused('fit', fit({ data: [...LOGINS, { ip: ['a'] }], schema: SCHEMA }), 400, ['row 60, field \\"ip\\"']),
    ...['../x', 'a/b', 'a\\b', '..', 'a..b', '', '.x', 'a b', 'x'.repeat(101), 'CON', 'x-latest'].map((model) =>
      refused('fit', fit({ model }), 400, ['The model name'], `fit 400 name ${JSON.stringify(model).slice(0, 20)}`),
    ),
    ...['score', 'detect', 'save', 'load'].map((verb) => refused(verb, { model: '../x', data: [[1]] }, 400, ['The model name'])),
    refused('fit', () => fit({ data: Array(1_000_001).fill(0) }), 413, ['1000001 rows', '1000000'], 'fit 413 too many rows'),
    refused(
      'fit',
      () => fit({ data: Array.from({ length: 100 }, () => Array(4200).fill(0)) }),
      413,
      ['4200 columns', '4096'],
      'fit 413 too many columns',
    ),
    refused(
      'fit',
      () => fit({ data: Array.from({ length: 30_000 }, () => Array(280).fill(0)) }),
      413,
      ['30000 rows of 280 columns', '8400000', '65 MiB', '8388608', '64 MiB'],
      'fit 413 too many numbers',
    ),
    refused('fit', () => ' '.repeat(65 * 2 ** 20), 413, ['67108864'], 'fit 413 too large a body'),
    {
      name: 'leaves nothing of fits that failed',
      path: `${base}/models`,
      json: (body) => assert.deepEqual([body.total, files()], [0, []]),
    },
  ];
};
