import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectEndpoints } from '../../gateway/core/projects.js';
import { Projects } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Scenario, scenarios } from '../support/scenario.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-texts-'));
const FILE = join(dataDir, 'projects/ns/p/project.yaml');
const P = '/v1/projects/ns/p';
const PUT = { method: 'PUT', path: `${P}/text` } as const;
const CHECK = { method: 'POST', path: `${P}/text/check` } as const;
const TEXT = `version:   v1  # by hand
runtime:
  models:
    - {name: m, provider: openai, model: x, base_url: "https://host.example/v1", api_key: canary} # the one
`;
const SHOWN = TEXT.replace('canary', '"***"');

function write(name: string, text: string, file = 'project.yaml'): void {
  mkdirSync(join(dataDir, 'projects/ns', name), { recursive: true });
  writeFileSync(join(dataDir, 'projects/ns', name, file), text);
}
write('p', TEXT);
write('broken', 'version: [\napi_key: canary\n');
write(
  'json',
  JSON.stringify({ version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'x', api_key: 'canary' }] } }),
  'project.json',
);
write(
  'large',
  `${TEXT}prompts:\n${Array.from({ length: 400 }, (_, at) => `  - {name: p${at}, messages: [{role: system, content: hello}]} # ${at}\n`).join('')}`,
);

let stamp = '';

const TABLE: Scenario[] = [
  {
    name: 'the text comes with its comments and without its secrets',
    path: `${P}/text`,
    lacks: ['canary'],
    json: (body) => {
      assert.deepEqual([body.text, body.format], [SHOWN, 'yaml']);
      stamp = body.stamp;
    },
  },
  {
    name: 'a text that is right has no problems',
    ...CHECK,
    body: { text: SHOWN },
    json: (body) => assert.deepEqual(body, { problems: [], notes: [] }),
  },
  {
    name: 'each problem comes with its place',
    ...CHECK,
    body: { text: SHOWN.replace('provider: openai', 'provider: nobody') },
    lacks: ['canary'],
    json: ({ problems: [only, ...others] }) => {
      assert.deepEqual([only.loc, others], [['runtime', 'models', 0, 'provider'], []]);
      assert.match(only.msg, /universal/);
    },
  },
  {
    name: 'also names of what is not there',
    ...CHECK,
    body: { text: `${SHOWN}datasets: [{name: d, database: nowhere}]\n` },
    json: ({ problems }) => assert.deepEqual(problems[0].loc.slice(0, 2), ['datasets', 0]),
  },
  {
    name: 'also that it is no YAML',
    ...CHECK,
    body: { text: 'version: [v1' },
    json: ({ problems }) => assert.deepEqual([problems[0].loc, problems[0].type], [[], 'yaml']),
  },
  {
    name: 'and a mask of nothing',
    ...CHECK,
    body: { text: SHOWN.replace('name: m', 'name: n') },
    json: ({ problems }) => assert.deepEqual([problems[0].loc, problems[0].type], [['runtime', 'models', 0, 'api_key'], 'secret_missing']),
  },
  {
    name: 'nothing of it was written',
    ...CHECK,
    body: { text: SHOWN },
    json: () => assert.equal(readFileSync(FILE, 'utf8'), TEXT),
  },
  {
    name: 'a text is saved as it is written, with the secrets that it masks',
    ...PUT,
    body: () => ({ text: SHOWN.replace('by hand', 'by editor'), stamp }),
    lacks: ['canary'],
    json: ({ project, text }) => {
      assert.equal(readFileSync(FILE, 'utf8'), TEXT.replace('by hand', 'by editor').replace('canary', '"canary"'));
      assert.deepEqual([project.config.runtime.models[0].api_key, text.text.includes('by editor')], ['***', true]);
      assert.notEqual(text.stamp, stamp);
    },
  },
  {
    name: 'a file that was changed meanwhile is left as it is',
    ...PUT,
    body: () => ({ text: SHOWN, stamp }),
    status: 409,
    contains: ['ProjectChanged', 'changed since it was read'],
    json: () => assert.match(readFileSync(FILE, 'utf8'), /by editor/),
  },
  {
    name: 'a text that cannot be used is refused with the place of what is wrong',
    ...PUT,
    body: { text: SHOWN.replace('provider: openai', 'provider: nobody') },
    status: 422,
    lacks: ['canary'],
    json: ({ errors }) => assert.deepEqual(errors[0].loc, ['body', 'text', 'runtime', 'models', 0, 'provider']),
  },
  { name: 'so is one that is no YAML', ...PUT, body: { text: '{' }, status: 422, contains: ['not valid YAML'] },
  { name: 'an empty one', ...PUT, body: { text: '' }, status: 422 },
  {
    name: 'and a secret that would go to another host',
    ...PUT,
    body: { text: SHOWN.replace('host.', 'thief.') },
    status: 422,
    contains: ['SecretMissing'],
  },
  {
    name: 'a broken file can be read without what looks like a secret',
    path: '/v1/projects/ns/broken/text',
    contains: ['version: ['],
    lacks: ['canary'],
  },
  {
    name: 'and mended',
    ...PUT,
    path: '/v1/projects/ns/broken/text',
    body: { text: 'version: v1\nruntime: {models: []}\n' },
    json: ({ project }) => assert.equal(project.validation_error, null),
  },
  {
    name: 'a file in another format is shown as YAML, and stays what it is',
    ...PUT,
    path: '/v1/projects/ns/json/text',
    body: { text: 'version: v1\nruntime:\n  models:\n    - {name: m, provider: universal, model: y, api_key: "***"} # lost\n' },
    json: ({ text }) => {
      assert.equal(text.format, 'json');
      const { runtime } = JSON.parse(readFileSync(join(dataDir, 'projects/ns/json/project.json'), 'utf8'));
      assert.deepEqual(runtime.models, [{ name: 'm', provider: 'universal', model: 'y', api_key: 'canary' }]);
    },
  },
  {
    name: 'a long text is treated alike, beside the event loop',
    path: '/v1/projects/ns/large/text',
    lacks: ['canary'],
    json: ({ text }) => assert.ok(text.startsWith(SHOWN) && text.includes('# 399\n')),
  },
  {
    name: 'also its problems',
    ...CHECK,
    path: '/v1/projects/ns/large/text/check',
    body: { text: `${SHOWN.replace('name: m', 'name: n')}${'# long\n'.repeat(2_000)}` },
    json: ({ problems }) => assert.equal(problems[0].type, 'secret_missing'),
  },
  { name: 'a project that is not there', path: '/v1/projects/ns/absent/text', status: 404 },
];

scenarios<Runtime>(
  'project texts',
  {
    endpoints: projectEndpoints,
    context: () => ({ projects: new Projects({ dataDir }) }) as Runtime,
    close: () => rmSync(dataDir, { recursive: true, force: true }),
  },
  TABLE,
);
