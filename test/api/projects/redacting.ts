import assert from 'node:assert/strict';
import { MODEL } from '../../support/projects-stage.js';
import type { Scenario } from '../../support/scenario.js';

const secret = {
  name: 'hosted',
  provider: 'openai',
  model: 'x',
  base_url: 'https://user:canary-1@host/v1',
  api_key: 'canary-2',
  extra_body: { headers: { Authorization: 'canary-3' }, n_ctx: 5 },
}; // prettier-ignore

/** Secrets, which nobody sees again. */
export const redacting: Scenario[] = [
  {
    name: 'PUT with secrets',
    method: 'PUT',
    path: '/v1/projects/made/s',
    body: {
      config: {
        version: 'v1',
        runtime: { default_model: 'ref', models: [secret, { ...MODEL, name: 'ref', api_key: `\${env:QUERN_API_TEST_KEY}` }] },
      },
    },
  },
  {
    name: 'models show no secret, and references as they are',
    path: '/v1/projects/made/s/models',
    lacks: ['canary', 'sekret'],
    json: ({ models }) => {
      assert.deepEqual(
        [models[0].api_key, models[0].base_url, models[0].extra_body, models[0].default],
        ['***', 'https://***@host/v1', { headers: { Authorization: '***' }, n_ctx: 5 }, false],
      );
      assert.deepEqual([models[1].api_key, models[1].default, models[1].provider], [`\${env:QUERN_API_TEST_KEY}`, true, 'universal']);
    },
  },
];

process.env.QUERN_API_TEST_KEY = 'sekret';
