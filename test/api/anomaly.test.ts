import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { loadCore } from '../../native/loader.js';
import { BACKENDS } from '../../runtime/ml/anomaly/backends.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Expected, expectations, type Scenario, type Stage, scenarios } from '../support/scenario.js';
import { openSomeServices } from '../support/services.js';

interface Staged extends Runtime {
  readonly folder: string;
}

let folder = '';

/** A runtime with nothing but anomaly detection, on an own data directory. */
function stage(endpoints: Stage<Staged>['endpoints']): Stage<Staged> {
  return {
    endpoints,
    context: () => {
      folder = mkdtempSync(join(tmpdir(), 'quern-anomaly-'));
      const outbound = new Outbound();
      const opened = openSomeServices({ dataDir: folder, outbound });
      const models = { loaded: () => [] };
      const close = async (): Promise<void> => {
        await opened.close();
        await outbound.close();
      };
      return { version: '0.0.0', folder, models, ...opened, close } as unknown as Staged;
    },
    close: async (runtime) => {
      await runtime.close();
      rmSync(runtime.folder, { recursive: true, force: true });
    },
  };
}

const shelf = (...path: string[]): string => join(folder, 'models', 'anomaly', ...path);
const files = (): string[] => (existsSync(shelf()) ? readdirSync(shelf()).sort() : []);

/** Twelve sines together are about normal, and the same at every run. */
const bell = (seed: number): number =>
  Array.from({ length: 12 }, (_none, k) => Math.sin((seed + 1) * (k + 1) * 12.9898)).reduce((a, b) => a + b) / 2.5;
/** A cloud of 120 rows about (0, 10). */
const ROWS = Array.from({ length: 120 }, (_none, i) => [bell(i), 10 + bell(i + 0.5) / 2]);
const ODD = [50, -40];
/** 100 rows about (0, 0) with a deviation of about 1. */
const NORMAL = Array.from({ length: 100 }, (_none, i) => [bell(i + 0.25), bell(i + 0.75)]);
const LOGINS = Array.from({ length: 60 }, (_none, i) => ({
  bytes: 100 + (i % 7),
  agent: i % 3 === 0 ? 'curl' : 'firefox',
  ip: `10.0.0.${i % 5}`,
  vip: i % 2 === 0,
}));
const SCHEMA = { bytes: 'numeric', agent: 'onehot', ip: 'hash', vip: 'binary' };
const VERSION = /^logins_\d{8}_\d{6}$/;

/** Found by one row, used by later ones. */
let version = '';
let flagged = 0;

const table = (base: string): Scenario[] => {
  const row = (name: string, verb: string, body: unknown, expected: Expected = {}): Scenario => ({
    name,
    method: 'POST',
    path: `${base}/${verb}`,
    body,
    ...expectations(expected),
  });
  const post = (verb: string, body: unknown, expected: Expected = {}): Scenario => {
    const { status = 200 } = expectations(expected);
    return row(`${verb} ${status} ${JSON.stringify(typeof body === 'function' ? 'later' : body).slice(0, 90)}`, verb, body, expected);
  };
  const refused = (verb: string, body: unknown, status: number, contains: readonly string[], name?: string): Scenario => {
    const expected = { status, contains, lacks: [tmpdir()] };
    return name === undefined ? post(verb, body, expected) : row(name, verb, body, expected);
  };
  const fit = (more: object): object => ({ model: 'x', backend: 'hbos', data: ROWS, ...more });

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

    // Objects, versions
    row(
      'fits objects as a new version',
      'fit',
      { model: 'logins', backend: 'ecod', data: LOGINS, schema: SCHEMA, description: 'Who logs in' },
      (body) => {
        version = body.model;
        assert.match(version, VERSION);
        assert.deepEqual([body.base_name, body.versioned_name, body.overwrite], ['logins', version, false]);
        assert.deepEqual(body.encoder, { schema: SCHEMA, features: ['agent_curl', 'agent_firefox', 'bytes', 'ip', 'vip'] });
        assert.equal(body.model_params.input_dim, 5);
        const encoder = JSON.parse(readFileSync(shelf(`${version}_ecod_encoder.json`), 'utf8'));
        assert.deepEqual([encoder.version, encoder.schema, encoder.feature_order], [1, SCHEMA, ['agent', 'bytes', 'ip', 'vip']]);
        assert.deepEqual(encoder.encoders.agent, { type: 'onehot', categories: ['curl', 'firefox'] });
        assert.deepEqual(JSON.parse(readFileSync(shelf(`${version}.metadata.json`), 'utf8')), { description: 'Who logs in' });
      },
    ),
    ...['logins', 'logins-latest'].map((model) =>
      row(
        `scores ${model}`,
        'score',
        { model, backend: 'ecod', data: [LOGINS[0], { bytes: 1e9, agent: 'nmap' }], explain: true },
        (body) => {
          assert.equal(body.model, version);
          assert.deepEqual(Object.keys(body.data[0].contributions), ['agent_curl', 'agent_firefox', 'bytes', 'ip', 'vip']);
          assert.ok(body.data[1].score > body.data[0].score);
        },
      ),
    ),
    post('detect', { model: 'logins-latest', backend: 'ecod', data: LOGINS }, (body) => assert.equal(body.model, version)),
    row(
      'fits a second version in the same second or a later one',
      'fit',
      { model: 'logins', backend: 'ecod', data: LOGINS, schema: SCHEMA },
      (body) => {
        assert.match(body.model, VERSION);
        assert.ok(body.model > version, `${body.model} after ${version}`);
        version = body.model;
      },
    ),
    post('load', { model: 'logins-latest', backend: 'ecod' }, (body) => {
      assert.deepEqual([body.object, body.model, body.backend, body.normalization], ['load_result', version, 'ecod', 'standardization']);
      assert.deepEqual([body.filename, body.is_fitted, body.encoder_loaded, body.status], [`${version}_ecod.pkl`, true, true, 'loaded']);
      assert.deepEqual(body.encoder_schema, SCHEMA);
      assert.ok(body.threshold > 0);
    }),
    refused('score', { model: 'logins', backend: 'ecod', data: [[1, 2]] }, 400, ['2 columns', 'fitted with 5']),

    // Saving, listing
    post('save', { model: 'all', backend: 'ecod', description: 'Kept' }, (body) => {
      assert.deepEqual(
        [body.object, body.model, body.backend, body.filename, body.status],
        ['save_result', 'all', 'ecod', 'all_ecod.pkl', 'saved'],
      );
      assert.deepEqual([body.path, body.encoder_path], [shelf('all_ecod.pkl'), null]);
    }),
    row('saves a second time', 'save', { model: 'all', backend: 'ecod' }, (body) => assert.equal(body.status, 'saved')),
    row(
      'saves again what was removed behind its back',
      'save',
      () => {
        rmSync(shelf('all_ecod.pkl'));
        return { model: 'all', backend: 'ecod' };
      },
      () => assert.ok(existsSync(shelf('all_ecod.pkl'))),
    ),
    {
      name: 'lists models, newest first',
      path: `${base}/models`,
      json: (body) => {
        assert.deepEqual([body.object, body.total, body.models_dir], ['list', 15, shelf()]);
        const times = body.data.map((one: { modified: number }) => one.modified);
        assert.deepEqual(
          times,
          [...times].sort((a, b) => b - a),
        );
        assert.equal(body.data[0].filename, 'all_ecod.pkl');
        const one = body.data.find((listed: { name: string }) => listed.name === version);
        assert.deepEqual([one.base_name, one.backend, one.is_versioned, one.path], ['logins', 'ecod', true, shelf(`${version}_ecod.pkl`)]);
        assert.ok(one.size_bytes > 100 && !Number.isNaN(Date.parse(one.created)));
        assert.equal(body.data.find((listed: { filename: string }) => listed.filename === 'all_ecod.pkl').description, 'Kept');
        assert.ok(
          body.data.some(
            (listed: { base_name: string; description?: string }) => listed.base_name === 'logins' && listed.description === 'Who logs in',
          ),
        );
      },
    },

    // Files of others
    row(
      'load 422 hostile pickle',
      'load',
      () => {
        writeFileSync(shelf('hostile_ecod.pkl'), "cos\nsystem\n(S'touch owned'\ntR.");
        return { model: 'hostile', backend: 'ecod' };
      },
      { status: 422, contains: ['hostile_ecod.pkl', 'opcode GLOBAL at byte 0'] },
    ),
    post(
      'score',
      { model: 'hostile', backend: 'ecod', data: [ODD] },
      { status: 422, contains: ['hostile_ecod.pkl', 'opcode GLOBAL at byte 0'] },
    ),
    row(
      'load 422 half a file',
      'load',
      () => {
        writeFileSync(shelf('cut_ecod.pkl'), readFileSync(shelf('all_ecod.pkl')).subarray(0, 200));
        return { model: 'cut', backend: 'ecod' };
      },
      { status: 422, contains: ['cut_ecod.pkl'] },
    ),
    row(
      'load 422 a pickle of an empty dict',
      'load',
      () => {
        writeFileSync(shelf('plain_ecod.pkl'), Buffer.from('gAR9lC4=', 'base64'));
        return { model: 'plain', backend: 'ecod' };
      },
      { status: 422, contains: ['plain_ecod.pkl', 'no anomaly model'] },
    ),
    row(
      'load 422 the file of another backend',
      'load',
      () => {
        writeFileSync(shelf('moved_knn.pkl'), readFileSync(shelf('all_ecod.pkl')));
        return { model: 'moved', backend: 'knn' };
      },
      { status: 422, contains: ['moved_knn.pkl', 'ecod'] },
    ),
    row(
      'scores by a file that was copied in',
      'score',
      () => {
        writeFileSync(shelf('copy_ecod.pkl'), readFileSync(shelf('all_ecod.pkl')));
        return { model: 'copy', backend: 'ecod', data: [ODD] };
      },
      (body) => assert.deepEqual([body.model, body.data[0].is_anomaly], ['copy', true]),
    ),

    // Deleting
    ...['.hidden.pkl', 'a..b_ecod.pkl', 'a%20b.pkl', 'CON.pkl'].map(
      (filename): Scenario => ({
        name: `delete 400 ${filename}`,
        method: 'DELETE',
        path: `${base}/models/${filename}`,
        status: 400,
      }),
    ),
    ...['..%2Fx.pkl', '..', '%2e%2e%5cx.pkl', 'a%2Fb.pkl'].map(
      (filename): Scenario => ({
        name: `delete 404 ${filename} is no path`,
        method: 'DELETE',
        path: `${base}/models/${filename}`,
        status: 404,
      }),
    ),
    ...['nobody_ecod.pkl', 'all_ecod', 'all_ecod_encoder.json', 'all.metadata.json'].map(
      (filename): Scenario => ({
        name: `delete 404 ${filename}`,
        method: 'DELETE',
        path: `${base}/models/${filename}`,
        status: 404,
        contains: [filename],
      }),
    ),
    {
      name: 'deletes a model with its encoder and description',
      method: 'DELETE',
      path: () => `${base}/models/${version}_ecod.pkl`,
      json: (body) => {
        assert.deepEqual(body, { object: 'delete_result', filename: `${version}_ecod.pkl`, deleted: true });
        assert.deepEqual(
          files().filter((name) => name.startsWith(version)),
          [],
        );
      },
    },
    row('forgets a deleted model', 'score', () => ({ model: version, backend: 'ecod', data: LOGINS }), {
      status: 400,
      contains: ['Model not fitted'],
    }),
    {
      name: 'keeps the description of a name for its other backends',
      method: 'DELETE',
      path: `${base}/models/all_ecod.pkl`,
      json: () => assert.ok(files().includes('all.metadata.json')),
    },
    post('fit', fit({ polars_config: { enabled: true, rolling_windows: [3] } }), { contains: ['polars_config has no effect'] }),

    // What the reference system's tests check
    ...['ecod', 'hbos', 'isolation_forest'].flatMap((backend) => [
      row(`fits normal rows by ${backend}`, 'fit', { model: 'normal', backend, data: NORMAL, overwrite: true }),
      row(
        `scores (10, 10) above the mean of normal rows by ${backend}`,
        'score',
        { model: 'normal', backend, data: [...NORMAL, [10, 10]] },
        ({ data }) => {
          const scores = data.map((one: { score: number }) => one.score);
          for (const score of scores) assert.ok(score >= 0 && score <= 1, String(score));
          assert.ok(scores[100] > scores.slice(0, 100).reduce((a: number, b: number) => a + b) / 100);
        },
      ),
      ...[0.1, 0.9].map((threshold) =>
        row(
          `flags by ${backend} what is above ${threshold}`,
          'score',
          { model: 'normal', backend, data: NORMAL, threshold },
          ({ data, summary }) => {
            assert.deepEqual(
              [summary.threshold, summary.anomaly_count],
              [threshold, data.filter(({ score }: { score: number }) => score > threshold).length],
            );
            if (threshold === 0.1) flagged = summary.anomaly_count;
            else assert.ok(flagged >= summary.anomaly_count && flagged > 0, `${flagged}, ${summary.anomaly_count}`);
          },
        ),
      ),
    ]),
  ];
};

describe('endpoints of anomaly detection', () => {
  for (const [id, coreId, method, path] of [
    ['anomaly_fit', 'ml_anomaly_fit', 'POST', 'fit'],
    ['anomaly_score', 'ml_anomaly_score', 'POST', 'score'],
    ['anomaly_detect', 'ml_anomaly_detect', 'POST', 'detect'],
    ['anomaly_save', 'ml_anomaly_save', 'POST', 'save'],
    ['anomaly_load', 'ml_anomaly_load', 'POST', 'load'],
    ['list_anomaly_models', 'ml_list_anomaly_models', 'GET', 'models'],
    ['list_anomaly_backends', 'ml_list_anomaly_backends', 'GET', 'backends'],
    ['delete_anomaly_model', 'ml_delete_anomaly_model', 'DELETE', 'models/{filename}'],
  ] as const) {
    it(`serves ${path} on both ports`, () => {
      const [here, there] = [universalEndpoints.find((one) => one.id === id)!, coreEndpoints.find((one) => one.id === coreId)!];
      assert.deepEqual([here.method, here.path], [method, `/v1/anomaly/${path}`]);
      assert.deepEqual([there.method, there.path, there.body], [method, `/v1/ml/anomaly/${path}`, here.body]);
    });
  }
});

scenarios('anomaly detection on the universal port', stage(universalEndpoints), [
  ...table('/v1/anomaly'),
  {
    name: 'counts detectors among the loaded models',
    path: '/v1/models',
    contains: ['"id":"plain"', '"key":"anomaly:hbos:raw:plain"', '"type":"anomaly_hbos"'],
  },
]);
scenarios('anomaly detection on the core port', stage(coreEndpoints), table('/v1/ml/anomaly'));
