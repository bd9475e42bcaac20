import assert from 'node:assert/strict';
import { PUPPET_SCRIPTS } from '../../support/models/puppet-scripts.js';
import type { Scenario } from '../../support/scenario.js';
import { chat } from '../../support/universal-stage.js';

/** Answers held to JSON and schemas. */
export const FORMS: Scenario[] = [
  chat('a response_format with an empty schema beside it', 'hello', {
    body: { response_format: { type: 'text', json_schema: null } },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer),
  }),
  chat('no JSON without the schema that its type needs', 'hello', {
    status: 422,
    body: { response_format: { type: 'json_schema', json_schema: null } },
    contains: ['response_format must be'],
  }),
  chat('any JSON object', 'json', {
    body: { response_format: { type: 'json_object' } },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.json.answer),
  }),
  chat('JSON of a schema, from a model that would rather talk', 'hello', {
    body: {
      seed: 3,
      max_tokens: 300,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'x',
          strict: true,
          schema: {
            type: 'object',
            properties: { ok: { type: 'boolean' }, n: { type: 'integer', minimum: 3, maximum: 5 } },
            required: ['ok', 'n'],
          },
        },
      },
    },
    json: (body) => {
      const value = JSON.parse(body.choices[0].message.content);
      assert.equal(typeof value.ok, 'boolean');
      assert.ok([3, 4, 5].includes(value.n));
    },
  }),
  chat('a schema that cannot be enforced, strictly', 'hello', {
    status: 422,
    body: { response_format: { type: 'json_schema', json_schema: { strict: true, schema: { not: {} } } } },
    contains: ['\\"not\\"'],
  }),
];
