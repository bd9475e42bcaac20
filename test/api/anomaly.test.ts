import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { stage } from '../support/anomaly/requests.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { fits } from './anomaly/fits.js';
import { foreignFiles } from './anomaly/foreign-files.js';
import { scores } from './anomaly/scores.js';
import { versions } from './anomaly/versions.js';

/** All rows of one port. */
const table = (base: string): Scenario[] => [...fits(base), ...scores(base), ...versions(base), ...foreignFiles(base)];

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
