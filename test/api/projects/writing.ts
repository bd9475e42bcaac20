import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BASE, DATABASE, dataDir, E1, fileOf, GOOD, MODEL, PUT } from '../../support/projects-stage.js';
import type { Scenario } from '../../support/scenario.js';

const rag = (more: object): object => ({ config: { ...BASE, rag: { components: { embedding_strategies: [E1] }, ...more } } });

/** Configurations that are refused, and what saving does to a file. */
export const writing: Scenario[] = [
  {
    name: '4 two prompt sets of one name',
    ...PUT,
    body: {
      config: {
        ...BASE,
        prompts: [
          { name: 'a', messages: [] },
          { name: 'a', messages: [] },
        ],
      },
    }, // prettier-ignore
    status: 422,
    contains: ["prompts[1].name: duplicate prompt set name 'a'"],
  },
  {
    name: '4 a prompt set that does not exist',
    ...PUT,
    body: { config: { ...BASE, prompts: [{ name: 'a', messages: [] }], runtime: { models: [{ ...MODEL, prompts: ['x'] }] } } },
    status: 422,
    contains: ["no prompt set 'x' (available: a)"],
  },
  {
    name: '5 a memory store name',
    ...PUT,
    body: { config: { ...BASE, memory: { stores: [{ name: 'my-store' }] } } },
    status: 422,
    contains: ['memory.stores[0].name'],
  },
  {
    name: '7 an unknown reference',
    ...PUT,
    body: rag({ databases: [{ ...DATABASE, embedding_strategy: 'e9' }] }),
    status: 422,
    contains: ["embedding_strategy 'e9' not found in components.embedding_strategies"],
  },
  {
    name: '8 two components of one name',
    ...PUT,
    body: rag({ components: { embedding_strategies: [E1, E1] } }),
    status: 422,
    contains: ["duplicate embedding_strategy name 'e1'"],
  },
  {
    name: '12 a model without provider',
    ...PUT,
    body: { config: { version: 'v1', runtime: { models: [{ name: 'm', model: 'x' }] } } },
    status: 422,
    contains: ['runtime provider is required', 'provider is required'],
    json: (body) => assert.deepEqual(body.errors[0].loc, ['body', 'config', 'runtime', 'models', 0, 'provider']),
  },
  {
    name: 'sampling parameters out of range, unknown ones beside them',
    ...PUT,
    body: { config: { ...BASE, runtime: { models: [{ ...MODEL, model_api_parameters: { top_p: 1.5, mirostat: 2 } }] } } },
    status: 422,
    lacks: ['mirostat: '],
    json: (body) => {
      assert.deepEqual(body.errors.length, 1);
      assert.deepEqual(body.errors[0].loc, ['body', 'config', 'runtime', 'models', 0, 'model_api_parameters', 'top_p']);
    },
  },
  { name: 'PUT without config', ...PUT, body: {}, status: 422, contains: ['body.config'] },
  { name: 'PUT with a list', ...PUT, body: { config: [] }, status: 422 },
  { name: 'PUT of what is no JSON', ...PUT, body: '{"config":', headers: { 'content-type': 'application/json' }, status: 422 },
  { name: 'PUT of an unknown project', ...PUT, path: '/v1/projects/rows/absent', body: { config: BASE }, status: 404 },
  {
    name: '16 none of that has changed the file',
    path: '/v1/projects/rows/p',
    json: () => {
      assert.equal(readFileSync(fileOf('rows', 'p'), 'utf8'), GOOD);
      assert.deepEqual(readdirSync(join(dataDir, 'projects/rows/p')), ['project.yaml']);
    },
  },
  {
    name: '6, 16, 17 saving inlines references, forces the names, drops nulls, keeps comments and a backup',
    ...PUT,
    body: {
      config: {
        name: 'other',
        namespace: 'else',
        ...BASE,
        runtime: { models: [{ ...MODEL, api_key: null }] },
        rag: { components: { embedding_strategies: [E1] }, databases: [{ ...DATABASE, embedding_strategy: 'e1' }] },
      },
    },
    json: ({ project }) => {
      assert.deepEqual([project.name, project.config.name, project.config.namespace], ['p', 'p', 'rows']);
      assert.deepEqual(project.config.rag.databases, [{ ...DATABASE, embedding_strategies: [E1], default_embedding_strategy: 'e1' }]);
      const text = readFileSync(fileOf('rows', 'p'), 'utf8');
      assert.ok(text.includes('# the one') && !text.includes('null') && !text.includes('embedding_strategy: e1\n          '), text);
      const backups = readdirSync(join(dataDir, 'projects/rows/p')).filter((name) => name !== 'project.yaml');
      assert.match(backups.join(), /^project\.\d{8}_\d{6}\.yaml$/);
      assert.equal(readFileSync(fileOf('rows', 'p', backups[0]), 'utf8'), GOOD);
    },
  },
  {
    name: '11 the keyed map comes back as an array',
    ...PUT,
    body: { config: { ...BASE, runtime: { models: { quick: { provider: 'ollama', model: 'x' } } } } },
    json: ({ project }) => assert.deepEqual(project.config.runtime, { models: [{ provider: 'ollama', model: 'x', name: 'quick' }] }),
  },
  {
    name: '11 the flat form comes back as an array, and is edited on disk next',
    ...PUT,
    body: { config: { version: 'v1', runtime: { provider: 'local_runner', model: 'x' } } },
    json: ({ project }) => {
      assert.deepEqual(project.config.runtime, { models: [{ name: 'default', provider: 'local_runner', model: 'x' }] });
      writeFileSync(fileOf('rows', 'p'), GOOD.replace('model: x', 'model: edited'));
    },
  },
  { name: 'an edit on disk is seen by the next request', path: '/v1/projects/rows/p', contains: ['edited'], json: () => nextTurn() },
  { name: 'and by the list', path: '/v1/projects/rows', contains: ['edited', '"total":1'] },
];
