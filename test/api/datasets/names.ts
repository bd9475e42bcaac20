import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataDir, P } from '../../support/datasets-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** New datasets and the names that they may use. */
export const NAMES: Scenario[] = [
  {
    name: '48 a new dataset is empty',
    method: 'POST',
    path: P,
    body: { name: 'fresh', data_processing_strategy: 'texts', database: 'main_db' },
    json: ({ dataset }) => {
      assert.deepEqual(dataset, { name: 'fresh', data_processing_strategy: 'texts', database: 'main_db', auto_process: false, files: [] });
      const text = readFileSync(join(dataDir, 'projects/ns/p/project.yaml'), 'utf8');
      assert.match(text, /# documents/);
      assert.match(text, /name: fresh/);
    },
  },
  {
    name: '48 a name that is taken',
    method: 'POST',
    path: `${P}/`,
    body: { name: 'fresh', data_processing_strategy: 'texts', database: 'main_db' },
    status: 400,
    contains: ['already exists', 'fresh'],
  },
  {
    name: '48 an unknown strategy is named, with the known ones',
    method: 'POST',
    path: P,
    body: { name: 'x', data_processing_strategy: 'nope', database: 'main_db' },
    status: 400,
    contains: ['nope', 'texts'],
  },
  {
    name: '48 an unknown database is named, with the known ones',
    method: 'POST',
    path: P,
    body: { name: 'x', data_processing_strategy: 'universal_rag', database: 'nope' },
    status: 400,
    contains: ['nope', 'main_db'],
  },
  { name: '48 a missing field', method: 'POST', path: P, body: { name: 'x' }, status: 422, contains: ['database'] },
  {
    name: '48 a name with path parts',
    method: 'POST',
    path: P,
    body: { name: '../x', data_processing_strategy: 'texts', database: 'main_db' },
    status: 422,
  },
  { name: 'an unknown project', path: '/v1/projects/ns/none/datasets', status: 404, contains: ['ProjectNotFound'] },
  {
    name: '50 the names that a dataset may use',
    path: `${P}/strategies`,
    json: (body) => assert.deepEqual(body, { data_processing_strategies: ['texts'], databases: ['main_db', 'other_db'] }),
  },
  {
    name: '50 no names without a rag section',
    path: '/v1/projects/ns/plain/datasets/strategies',
    json: (body) => assert.deepEqual(body, { data_processing_strategies: [], databases: [] }),
  },
];
