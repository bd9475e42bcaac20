import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import { writeProject } from '../support/dataset-stage.js';
import { DOCUMENTS, DOCUMENTS_PROJECT } from '../support/retrieval-project.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { type Scenario, scenarios } from '../support/scenario.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-generations-'));
const P = '/v1/projects/ns/p';
const G = '/v1/projects/ns/p/generations';
const FILE = join(dataDir, 'projects', 'ns', 'p', 'project.yaml');
const FIRST = `# Kept by hand.\n${DOCUMENTS_PROJECT.replace(/.*CrossEncoder.*\n/, '').replace('{name: plain, provider: universal, model: x}', '{name: plain, provider: universal, model: x, api_key: first-canary}')}`;
writeProject(dataDir, 'ns', 'p', FIRST);

let stage: RetrievalStage;
// biome-ignore lint/suspicious/noExplicitAny: the configuration of a project has any shape
let config: any;
const changed = (change: (next: typeof config) => void): object => {
  const next = structuredClone(config);
  change(next);
  return { config: next };
};
const list = (name: string, json: Scenario['json']): Scenario => ({ name, path: G, ...(json ? { json } : {}) });
const numbers = (body: { generations: { generation: number }[] }): number[] => body.generations.map(({ generation }) => generation);

const KEEPING: Scenario[] = [
  list('the file as somebody wrote it is the first', ({ total, generations: [only] }) => {
    assert.equal(total, 1);
    assert.deepEqual([only.generation, only.source, only.file, only.current], [1, 'file', 'project.yaml', true]);
    assert.match(only.hash, /^[0-9a-f]{64}$/);
    assert.ok(Math.abs(Date.parse(only.created_at) - Date.now()) < 60_000);
  }),
  { name: 'its settings are read', path: P, json: (body) => (config = body.project.config) },
  {
    name: 'a request changes them',
    method: 'PUT',
    path: P,
    body: () => changed((next) => (next.prompts[0].messages[0].content = 'Be brief.')),
  },
  {
    name: 'a request that changes nothing',
    method: 'PUT',
    path: P,
    body: () => changed((next) => (next.prompts[0].messages[0].content = 'Be brief.')),
  },
  {
    name: 'a request that is refused',
    method: 'PUT',
    path: P,
    body: () => changed((next) => (next.runtime.models[0].provider = 'nobody')),
    status: 422,
  },
  list('makes one more, and others none', (body) => {
    assert.deepEqual(numbers(body), [2, 1]);
    assert.deepEqual(
      body.generations.map((one: { source: string; current: boolean }) => [one.source, one.current]),
      [
        ['api', true],
        ['file', false],
      ],
    );
    writeFileSync(FILE, readFileSync(FILE, 'utf8').replace('Be brief.', 'Be loud.').replace('first-canary', 'second-canary'));
  }),
  list('a file that somebody edits is seen', (body) => {
    assert.deepEqual(numbers(body), [3, 2, 1]);
    assert.equal(body.generations[0].source, 'file');
    writeFileSync(FILE, 'a: [');
  }),
  list('a text that cannot be read is none, and what the file said can be looked up', (body) => {
    assert.deepEqual(numbers(body), [3, 2, 1]);
    assert.ok(body.generations.every((one: { current: boolean }) => !one.current));
    writeFileSync(FILE, 'version: v1\nruntime: {models: [{name: m}]}\n');
  }),
  list('nor one that cannot be used', (body) => {
    assert.deepEqual(numbers(body), [3, 2, 1]);
    writeFileSync(FILE, FIRST);
  }),
  list('the old text again is a new one', (body) => {
    assert.deepEqual(numbers(body), [4, 3, 2, 1]);
    assert.equal(body.generations[0].hash, body.generations[3].hash);
  }),
];

const READING: Scenario[] = [
  {
    name: 'a generation is shown without its secrets',
    path: '/v1/projects/ns/p/generations/2',
    lacks: ['canary'],
    json: (body) => {
      assert.deepEqual([body.generation, body.current, body.validation_error], [2, false, null]);
      assert.equal(body.config.prompts[0].messages[0].content, 'Be brief.');
    },
  },
  ...['0', '-1', 'x', '1.5', '1e3', '9'.repeat(20)].map(
    (number): Scenario => ({ name: `${number} is no generation`, path: `${G}/${number}`, status: 400, contains: ['no generation'] }),
  ),
  { name: 'one that is not there', path: '/v1/projects/ns/p/generations/99', status: 404, contains: ['no generation 99'] },
  { name: 'of an unknown project', path: '/v1/projects/ns/nope/generations', status: 404, contains: ['ns/nope'] },
  {
    name: 'what differs from the current one',
    path: '/v1/projects/ns/p/generations/2/diff',
    json: (body) => {
      assert.deepEqual([body.from, body.to], [2, 4]);
      assert.deepEqual(body.differences, [{ path: 'prompts[0].messages[0].content', from: 'Be brief.', to: 'Be kind.' }]);
    },
  },
  {
    name: 'what differs between two, secrets by their place alone',
    path: '/v1/projects/ns/p/generations/2/diff?to=3',
    lacks: ['canary'],
    json: ({ differences }) =>
      assert.deepEqual(differences, [
        { path: 'runtime.models[0].api_key', from: '***', to: '***' },
        { path: 'prompts[0].messages[0].content', from: 'Be brief.', to: 'Be loud.' },
      ]),
  },
  {
    name: 'nothing differs from itself',
    path: '/v1/projects/ns/p/generations/2/diff?to=2',
    json: (body) => assert.deepEqual(body.differences, []),
  },
  { name: 'compared with none', path: '/v1/projects/ns/p/generations/2/diff?to=99', status: 404, contains: ['99'] },
  { name: 'compared with no number', path: '/v1/projects/ns/p/generations/2/diff?to=x', status: 422, contains: ['to'] },
];

const TRYING: Scenario[] = [
  {
    name: 'a chat is recorded',
    method: 'POST',
    path: `${P}/chat/completions`,
    headers: { 'X-No-Session': '1' },
    body: { messages: [{ role: 'user', content: 'Where does the volcano erupt?' }] },
  },
  {
    name: 'other settings are written',
    method: 'PUT',
    path: P,
    body: () => changed((next) => (next.rag.databases[0].retrieval_strategies[1].config.top_k = 1)),
  },
  {
    name: 'the chat on the settings before has what it had',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/4/dry-run',
    body: {},
    json: ({ generation, runs, changed: count }) => {
      assert.deepEqual([generation, runs.length, count], [4, 1, 0]);
      const [{ question, recorded, replayed, differs }] = runs;
      assert.equal(question, 'Where does the volcano erupt?');
      assert.deepEqual([differs, recorded.passages], [[], replayed.passages]);
    },
  },
  {
    name: 'and on the new ones other passages, of the chat and not of what was run again',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/5/dry-run',
    body: { last: 3 },
    json: ({ runs, changed: count }) => {
      assert.deepEqual([runs.length, count], [1, 1]);
      for (const { recorded, replayed, differs } of runs) {
        assert.ok(differs.includes('passages'));
        assert.ok(replayed.passages.length < recorded.passages.length);
      }
    },
  },
  {
    name: 'questions are asked on both settings, and no recorded chat',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/4/dry-run',
    body: { questions: [{ query: 'Where does the volcano erupt?' }, { query: 'Hello', database: 'none' }] },
    json: ({ runs, questions: [volcano, unknown], changed: count }) => {
      assert.deepEqual([runs, count], [[], 1]);
      const { now, would, differs } = volcano;
      assert.ok(now.passages.length < would.passages.length, 'the settings of now take one passage');
      assert.deepEqual(would.passages[0], now.passages[0]);
      assert.deepEqual([now.error, would.error, differs.includes('passages'), now.model], [null, null, true, 'plain']);
      assert.match(now.passages[0].content, /volcano/i);
      assert.equal(typeof would.response, 'string');
      assert.match(unknown.now.error, /no database "none" in these settings; they have /);
      assert.deepEqual([unknown.database, unknown.differs], ['none', []]);
    },
  },
  {
    name: 'the same settings answer the same',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/5/dry-run',
    body: { questions: [{ query: 'Where does the volcano erupt?' }], last: 1 },
    json: ({ runs, questions: [{ differs }] }) => assert.deepEqual([runs.length, differs], [1, []]),
  },
  {
    name: 'an empty question',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/5/dry-run',
    body: { questions: [{ query: '  ' }] },
    status: 422,
    contains: ['query'],
  },
  {
    name: 'too many questions',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/5/dry-run',
    body: { questions: Array.from({ length: 21 }, () => ({ query: 'x' })) },
    status: 422,
    contains: ['questions'],
  },
  {
    name: 'an event that is not there',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/5/dry-run',
    body: { events: ['evt_none'] },
    status: 404,
  },
  {
    name: 'too many events',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/5/dry-run',
    body: { last: 21 },
    status: 422,
    contains: ['last'],
  },
  { name: 'a generation that is not there', method: 'POST', path: '/v1/projects/ns/p/generations/77/dry-run', body: {}, status: 404 },
];

const RESTORING: Scenario[] = [
  {
    name: 'a generation comes back as its text, with comments and secrets',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/1/restore',
    lacks: ['canary'],
    json: (body) => {
      assert.equal(body.project.config.prompts[0].messages[0].content, 'Be kind.');
      assert.equal(readFileSync(FILE, 'utf8'), FIRST);
    },
  },
  list('and is a new one', ({ generations }) => {
    assert.deepEqual([generations[0].generation, generations[0].source, generations[0].current], [6, 'restore', true]);
  }),
  {
    name: 'one that is not there',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/99/restore',
    status: 404,
    json: () => writeFileSync(FILE, 'a: ['),
  },
  {
    name: 'a file that cannot be read is replaced too',
    method: 'POST',
    path: '/v1/projects/ns/p/generations/1/restore',
    json: () => assert.equal(readFileSync(FILE, 'utf8'), FIRST),
  },
  {
    name: 'the help of Quern has none',
    path: '/v1/projects/llamafarm/project_seed/generations',
    json: (body) => assert.equal(body.total, 0),
  },
  { name: 'the project is removed', method: 'DELETE', path: `${P}?purge=true` },
  { name: 'and made anew', method: 'POST', path: '/v1/projects/ns', body: { name: 'p' } },
  list('has one generation', ({ generations }) => {
    assert.deepEqual([generations.length, generations[0].source], [1, 'api']);
    assert.ok(stage);
  }),
];

scenarios<Runtime>(
  'generations of a project file',
  {
    endpoints: coreEndpoints,
    context: async () => {
      stage = await openRetrievalStage(dataDir);
      await stage.take(`${P}/datasets/docs`, DOCUMENTS);
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  [...KEEPING, ...READING, ...TRYING, ...RESTORING],
);
