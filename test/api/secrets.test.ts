import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectEndpoints } from '../../gateway/core/projects.js';
import { Projects } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Scenario, scenarios } from '../support/scenario.js';

// biome-ignore lint/suspicious/noExplicitAny: configurations of every shape
type Loose = any;

const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-secrets-'));
const MODEL = { name: 'm', provider: 'universal', model: 'x' };

function fileOf(namespace: string, name: string, file = 'project.yaml'): string {
  return join(dataDir, 'projects', namespace, name, file);
}
function write(namespace: string, name: string, text: string, file?: string): void {
  mkdirSync(join(dataDir, 'projects', namespace, name), { recursive: true });
  writeFileSync(fileOf(namespace, name, file), text);
}

/** A project file with a secret in every place that can have one, and comments. */
const KEEPER = `version: v1 # the form
runtime:
  models:
    # the first
    - name: a
      provider: openai
      model: x
      base_url: https://canary-user:canary-1@host/v1?key=canary-2 # here
      api_key: canary-3
      model_api_parameters: {auth_token: canary-4, temperature: 0.5}
      extra_body: {headers: {X-Team: canary-5}}
    - {name: b, provider: openai, model: y, api_key: canary-6}
mcp:
  servers:
    - name: s
      transport: stdio
      command: run --api-key canary-7
      args: [--token, canary-8, --url=postgres://u:canary-9@host/db]
      env: {ANY: canary-10}
    - {name: h, transport: http, base_url: http://h, headers: {any: canary-11}}
rag:
  databases:
    - name: d
      type: QdrantStore
      config: {host: h, api_key: canary-12}
      embedding_strategies:
        - {name: e, type: OpenAIEmbedder, config: {api_key: canary-13, base_url: https://h?key=canary-14}}
      retrieval_strategies:
        - {name: r, type: ElasticRetriever, config: {host: h, username: u, password: canary-15}}
extra: {secret: canary-16, list: [{credentials: {x: canary-17}}]}
`;
write('keep', 'p', KEEPER);
write('keep', 'bad', KEEPER.replace('version: v1', 'version: v0'));
write('keep', 'broken', `${KEEPER}a: *canary-18\n`);
write('keep', 'json', `{"api_key": canary-19}`, 'project.json');
mkdirSync(join(dataDir, 'templates'), { recursive: true });
writeFileSync(join(dataDir, 'templates/keys.yaml'), KEEPER);
const KEEP = '/v1/projects/keep/p';
let keptConfig: Loose;
/** The project as it was shown last, with a change. */
const putBack = (name: string, change: (config: Loose) => void, more: Partial<Scenario> = {}): Scenario => ({
  name,
  method: 'PUT',
  path: KEEP,
  body: () => {
    const config = structuredClone(keptConfig);
    change(config);
    return { config };
  },
  lacks: ['canary'],
  ...more,
});
const keeping: Scenario[] = [
  {
    name: 'GET shows no secret',
    path: KEEP,
    contains: ['https://***@host/v1?key=***', '--url=postgres://***@host/db', 'run --api-key ***', '"temperature":0.5', '"username":"u"'],
    lacks: ['canary'],
    json: ({ project }) => {
      keptConfig = project.config;
    },
  },
  { name: 'nor does the list, with files that cannot be used', path: '/v1/projects/keep', contains: ['"bad"'], lacks: ['canary'] },
  { name: 'nor the models', path: `${KEEP}/models`, lacks: ['canary'] },
  { name: 'nor what a broken file is told of', path: '/v1/projects/keep/broken', status: 422, contains: ['YAML'], lacks: ['canary'] },
  { name: 'nor a broken file of JSON', path: '/v1/projects/keep/json', status: 422, contains: ['JSON'], lacks: ['canary'] },
  { name: 'nor DELETE', method: 'DELETE', path: KEEP, contains: ['***'], lacks: ['canary'] },
  {
    name: 'nor a project made from a template with keys',
    method: 'POST',
    path: '/v1/projects/keep',
    body: { name: 'made', config_template: 'keys' },
    contains: ['***'],
    lacks: ['canary'],
    json: () => assert.equal(readFileSync(fileOf('keep', 'made'), 'utf8').match(/canary-/g)!.length, 18),
  },
  putBack('PUT of what was shown changes nothing, comments included', () => {}, {
    json: () => {
      const { name, namespace, ...rest } = parse(readFileSync(fileOf('keep', 'p'), 'utf8'));
      assert.deepEqual([name, namespace, rest], ['p', 'keep', parse(KEEPER)]);
      assert.match(readFileSync(fileOf('keep', 'p'), 'utf8'), /# the form.*# the first.*canary-2 # here/s);
    },
  }),
  putBack(
    'a mask that stands for nothing is refused',
    (config) => config.runtime.models.push({ name: 'c', provider: 'openai', model: 'z', api_key: '***' }),
    { status: 422, contains: ['SecretMissing', 'body.config.runtime.models[2].api_key', 'none is'] },
  ),
  putBack(
    'a stored key is not sent to another host',
    (config) => {
      config.runtime.models.find((model: Loose) => model.name === 'b').base_url = 'https://elsewhere.example/v1';
    },
    { status: 422, contains: ['SecretMissing', 'another host'] },
  ),
  putBack(
    'what is wrong with a secret or an address is said without it',
    (config) => {
      config.runtime.models = [
        { ...MODEL, api_key: { a: 'canary' } },
        { ...MODEL, name: 'n', base_url: `https://canary:canary@h/${'x'.repeat(3000)}` },
        { ...MODEL, name: 'o', provider: 'https://u:canary@h?token=canary' },
      ];
      config.mcp.servers = [
        { name: 's', transport: 'stdio', command: 'x', args: ['--api-key', 'canary'.repeat(10_000)], env: { A: ['canary'], B: 7 } },
      ];
    },
    { status: 422, contains: ['base_url', 'provider', 'https://***@h'] },
  ),
  putBack(
    'PUT with entries moved, added and removed keeps the secrets of those that stay',
    (config) => {
      config.runtime.models.reverse().unshift({ name: 'new', provider: 'openai', model: 'z', api_key: 'canary-new' });
      config.mcp.servers.reverse();
      config.runtime.models[2].base_url = 'https://host/v2';
      delete config.runtime.models[2].extra_body;
    },
    {
      json: () => {
        const { runtime, mcp } = parse(readFileSync(fileOf('keep', 'p'), 'utf8'));
        assert.deepEqual(
          runtime.models.map((model: Loose) => [model.name, model.api_key, model.base_url]),
          [
            ['new', 'canary-new', undefined],
            ['b', 'canary-6', undefined],
            ['a', 'canary-3', 'https://host/v2'],
          ],
        );
        assert.deepEqual(mcp.servers[1].args, ['--token', 'canary-8', '--url=postgres://u:canary-9@host/db']);
      },
    },
  ),
];

scenarios<Runtime>(
  'secrets of projects',
  {
    endpoints: projectEndpoints,
    context: () => ({ projects: new Projects({ dataDir }) }) as unknown as Runtime,
    close: () => rmSync(dataDir, { recursive: true, force: true }),
  },
  keeping,
);
