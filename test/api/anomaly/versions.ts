import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { LOGINS, requests, SCHEMA, shelf, VERSION } from '../../support/anomaly/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** Found by one row, used by later ones. */
export let version = '';

/** Models of objects, their versions, saving and the list. */
export const versions = (base: string): Scenario[] => {
  const { row, post, refused } = requests(base);
  return [
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
  ];
};
