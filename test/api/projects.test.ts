import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { projectEndpoints } from '../../gateway/core/projects.js';
import { Projects } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Scenario, scenarios } from '../support/scenario.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-projects-'));
const MODEL = { name: 'm', provider: 'universal', model: 'x' };
const BASE = { version: 'v1', runtime: { models: [MODEL] } };
const GOOD = 'version: v1\nruntime:\n  models:\n    - {name: m, provider: universal, model: x} # the one\n';
const E1 = { name: 'e1', type: 'UniversalEmbedder', config: {} };
const DATABASE = { name: 'd', type: 'ChromaStore' };

function fileOf(namespace: string, name: string, file = 'project.yaml'): string {
  return join(dataDir, 'projects', namespace, name, file);
}
function write(namespace: string, name: string, text: string, file?: string): void {
  mkdirSync(join(dataDir, 'projects', namespace, name), { recursive: true });
  writeFileSync(fileOf(namespace, name, file), text);
}

write('files', 'order', GOOD.replace('model: x', 'model: from-yaml'));
write('files', 'order', GOOD.replace('model: x', 'model: from-yml'), 'project.yml');
write('files', 'order', 'version = "v1"\nruntime.models = [{ name = "m", provider = "universal", model = "from-toml" }]\n', 'project.toml');
write('files', 'toml', 'a = [', 'project.toml');
write('files', 'farm', GOOD.replace('model: x', 'model: from-farm'), 'llamafarm.yaml');
write('files', 'empty', '');
write('files', 'broken', 'a: [');
mkdirSync(join(dataDir, 'projects/files/nothing'));
write('many', 'good', GOOD);
write('many', 'bad', `version: v1\nkeep: 1\nruntime: {models: [${Array.from({ length: 7 }, () => '{model: x}').join(', ')}]}\n`);
writeFileSync(join(dataDir, 'outside.yaml'), 'secret-canary');

/** Where a row of the table starts from: a project `rows/p` with one model. */
const PUT = { method: 'PUT', path: '/v1/projects/rows/p' } as const;
write('rows', 'p', GOOD);

const TRAVERSALS = [
  '..',
  '../..',
  'a/../../b',
  '/etc',
  '.',
  '.hidden',
  'a..b',
  '..\\..',
  'C:\\x',
  '\\\\host\\share',
  'a\0b',
  'nul',
  '%2e%2e',
  '．．',
  'x'.repeat(129),
  ' ',
  'ns:p',
  '~',
  '*',
];

const reading: Scenario[] = [
  {
    name: '1 the .yaml file is chosen',
    path: '/v1/projects/files/order',
    contains: ['from-yaml'],
    json: () => rmSync(fileOf('files', 'order')),
  },
  {
    name: '1 then the .yml file',
    path: '/v1/projects/files/order/',
    contains: ['from-yml'],
    json: () => rmSync(fileOf('files', 'order', 'project.yml')),
  },
  {
    name: '1 then the .toml file',
    path: '/v1/projects/files/order',
    contains: ['from-toml'],
  },
  { name: "1 the file of LlamaFarm's command line", path: '/v1/projects/files/farm', contains: ['from-farm'] },
  { name: '2 broken TOML', path: '/v1/projects/files/toml', status: 422, contains: ['not valid TOML', 'ProjectConfigError'] },
  { name: '2 an empty file', path: '/v1/projects/files/empty', status: 422, contains: ['it is empty'] },
  { name: '2 broken YAML', path: '/v1/projects/files/broken', status: 422, contains: ['not valid YAML', 'line 1'] },
  { name: '2 a directory without a file', path: '/v1/projects/files/nothing', status: 422, contains: ['no configuration file found in'] },
  {
    name: '2 no directory',
    path: '/v1/projects/files/absent',
    status: 404,
    contains: ['ProjectNotFound', 'Project files/absent not found', 'directory does not exist'],
  },
  {
    name: '13 an unknown namespace is empty',
    path: '/v1/projects/nobody',
    json: (body) => assert.deepEqual(body, { total: 0, projects: [] }),
  },
  {
    name: '14 one invalid configuration among several',
    path: '/v1/projects/many',
    json: ({ total, projects }) => {
      assert.equal(total, 2);
      assert.deepEqual([projects[0].name, projects[0].config.keep, projects[0].config.name], ['bad', 1, undefined]);
      assert.match(projects[0].validation_error, /^runtime\.models\[0\]\.name: is required; .*\(and 9 more errors\)$/);
      assert.deepEqual(projects[1].config, { ...BASE, name: 'good', namespace: 'many' });
      assert.equal(projects[1].validation_error, null);
      assert.equal(new Date(projects[1].last_modified).toISOString(), projects[1].last_modified);
    },
  },
  { name: '15 one invalid configuration alone', path: '/v1/projects/many/bad', contains: ['"validation_error":"runtime.models[0]'] },
  {
    name: '15 its models',
    path: '/v1/projects/many/bad/models',
    status: 422,
    contains: ['ProjectConfigError', 'runtime provider is required'],
  },
  ...TRAVERSALS.flatMap((name): Scenario[] => {
    const encoded = encodeURIComponent(name).replaceAll('.', '%2e');
    const refused = { status: 404, lacks: ['secret-canary', dataDir] } as const;
    return [
      { name: `18 namespace ${JSON.stringify(name.slice(0, 20))}`, path: `/v1/projects/${encoded}`, ...refused },
      { name: `18 project ${JSON.stringify(name.slice(0, 20))}`, path: `/v1/projects/many/${encoded}`, ...refused },
      {
        name: `18 project to replace ${JSON.stringify(name.slice(0, 20))}`,
        method: 'PUT',
        path: `/v1/projects/many/${encoded}`,
        body: { config: BASE },
        ...refused,
      },
      {
        name: `18 project to purge ${JSON.stringify(name.slice(0, 20))}`,
        method: 'DELETE',
        path: `/v1/projects/many/${encoded}?purge=true`,
        ...refused,
      },
      {
        name: `18 new project ${JSON.stringify(name.slice(0, 20))}`,
        method: 'POST',
        path: '/v1/projects/many',
        body: { name },
        ...refused,
        status: 422,
      },
    ];
  }),
  {
    name: '18 nothing outside was touched',
    path: '/v1/projects/many',
    json: () =>
      assert.deepEqual(
        [readdirSync(dataDir).sort(), readFileSync(join(dataDir, 'outside.yaml'), 'utf8')],
        [['outside.yaml', 'projects'], 'secret-canary'],
      ),
  },
];

const rag = (more: object): object => ({ config: { ...BASE, rag: { components: { embedding_strategies: [E1] }, ...more } } });
const writing: Scenario[] = [
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

const creating: Scenario[] = [
  {
    name: 'POST makes a project',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 'a' },
    json: ({ project }) => assert.deepEqual([project.name, project.namespace, project.validation_error], ['a', 'made', null]),
  },
  {
    name: 'its models: the default marked, absent fields null',
    path: '/v1/projects/made/a/models',
    contains: ['"total":1', '"base_url":null', '"default":true', '"name":"default"'],
    json: ({ object, data, models }) => {
      assert.equal(object, 'list');
      assert.deepEqual(
        data.map(({ id, object: kind, owned_by: owner }: { id: string; object: string; owned_by: string }) => [id, kind, owner]),
        models.map(({ name, provider }: { name: string; provider: string }) => [name, 'model', provider]),
      );
      assert.ok(Number.isInteger(data[0].created));
    },
  },
  {
    name: 'POST of what exists',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 'a' },
    status: 409,
    contains: ['Project made/a already exists'],
  },
  {
    name: 'POST from the rag template',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 'r', config_template: 'rag' },
    contains: ['main_database'],
  },
  {
    name: 'POST from the server template',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 's', config_template: 'server' },
    lacks: ['main_database'],
  },
  {
    name: '19 an unknown template',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 't', config_template: 'zzz' },
    status: 404,
    contains: ['ConfigTemplateNotFound', 'zzz', 'templates'],
  },
  {
    name: '19 a template that climbs',
    method: 'POST',
    path: '/v1/projects/made',
    body: { name: 't', config_template: '../outside' },
    status: 404,
    lacks: ['secret-canary'],
  },
  {
    name: '19 the reserved namespace',
    method: 'POST',
    path: '/v1/projects/llamafarm',
    body: { name: 't' },
    status: 400,
    contains: ['ReservedNamespace', 'llamafarm'],
  },
  { name: 'POST without a name', method: 'POST', path: '/v1/projects/made', body: {}, status: 422, contains: ['name'] },
  {
    name: 'the list is sorted',
    path: '/v1/projects/made',
    json: ({ projects }) =>
      assert.deepEqual(
        projects.map((one: { name: string }) => one.name),
        ['a', 'r', 's'],
      ),
  }, // prettier-ignore
  {
    name: 'a setting without an effect is told, with the reason',
    method: 'PUT',
    path: '/v1/projects/made/s',
    body: { config: { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'x', instructor_mode: 'tools' }] } } },
    json: ({ project }) => assert.match(project.notes.join(), /^instructor_mode of model 'm' has no effect/),
  },
  { name: 'also to who reads it', path: '/v1/projects/made/s', contains: ['"notes":["instructor_mode of model'] },
  {
    name: 'a prompt format that is none',
    method: 'PUT',
    path: '/v1/projects/made/s',
    body: { config: { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'x', prompt_format: 'alpaca' }] } } },
    status: 422,
    contains: ['prompt_format', 'unstructured'],
  },
  { name: '20 DELETE returns the project', method: 'DELETE', path: '/v1/projects/made/a', contains: ['"name":"a"'] },
  { name: '20 and keeps it', path: '/v1/projects/made/a' },
  { name: '20 DELETE with purge=false keeps it', method: 'DELETE', path: '/v1/projects/made/a?purge=false' },
  { name: '20 DELETE with a purge that is no boolean', method: 'DELETE', path: '/v1/projects/made/a?purge=maybe', status: 422 },
  {
    name: '20 DELETE with purge',
    method: 'DELETE',
    path: '/v1/projects/made/a?purge=true',
    contains: ['"name":"a"'],
    json: () => assert.equal(existsSync(join(dataDir, 'projects/made/a')), false),
  },
  { name: '20 it is gone', path: '/v1/projects/made/a', status: 404, contains: ['not found'] },
  { name: '20 and cannot be purged twice', method: 'DELETE', path: '/v1/projects/made/a?purge=true', status: 404, contains: ['not found'] },
  { name: 'models of an unknown project', path: '/v1/projects/made/a/models', status: 404 },
];

const secret = {
  name: 'hosted',
  provider: 'openai',
  model: 'x',
  base_url: 'https://user:canary-1@host/v1',
  api_key: 'canary-2',
  extra_body: { headers: { Authorization: 'canary-3' }, n_ctx: 5 },
}; // prettier-ignore
const redacting: Scenario[] = [
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
scenarios<Runtime>(
  'projects',
  {
    endpoints: projectEndpoints,
    context: () => ({ projects: new Projects({ dataDir }) }) as unknown as Runtime,
    close: () => rmSync(dataDir, { recursive: true, force: true }),
  },
  [...reading, ...writing, ...creating, ...redacting],
);
