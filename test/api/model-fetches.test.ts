import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { openRuntime } from '../../runtime/runtime.js';
import { emptyDataDir } from '../support/daemon.js';
import { HubServer } from '../support/hub-server.js';
import { decidedPuppetPath } from '../support/models/cache.js';
import { writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { type Scenario, scenarios } from '../support/scenario.js';

setLogLevel('error');
const dataDir = emptyDataDir();
const hub = await HubServer.start();
process.env.HF_ENDPOINT = hub.url;
process.env.HF_HUB_CACHE = join(dataDir, 'hub');

/** The files of a folder as a repository of the hub. */
function filesOf(folder: string): Record<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    paths.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path)];
    }),
  );
}

const encoders = emptyDataDir();
writeTinyEncoders(encoders);
const puppet = readFileSync(decidedPuppetPath());
for (const name of ['chat', 'streamed', 'schema']) hub.put(`org/${name}`, { 'model-Q8_0.gguf': puppet });
for (const name of ['embedder', 'base']) hub.put(`org/${name}`, filesOf(join(encoders, 'tiny', 'embedder')));
hub.put('org/only-asked', { 'model.gguf': puppet });

mkdirSync(join(dataDir, 'projects/a/b'), { recursive: true });
writeFileSync(
  join(dataDir, 'projects/a/b/project.yaml'),
  `version: v1
runtime:
  models:
    - {name: chat, provider: universal, model: 'org/chat:Q8_0'}
    - {name: streamed, provider: universal, model: org/streamed}
    - {name: unknown, provider: universal, model: org/unknown}
rag:
  databases:
    - name: d
      type: NativeStore
      embedding_strategies: [{name: e, type: UniversalEmbedder, config: {model: org/embedder}}]
      retrieval_strategies: [{name: s, type: VectorRetriever}]
`,
);

const CHAT = '/v1/projects/a/b/chat/completions';
const messages = [{ role: 'user', content: 'x' }];
const chat = { messages, rag_enabled: false, max_tokens: 4 };
const asked = (repository: string): number => hub.seen.filter(({ path }) => path.includes(`/${repository}/resolve/`)).length;
const examples = ['a', 'b', 'c', 'd'].map((text, at) => ({ text, label: `${at % 2}` }));
let task = '';

const table: Scenario[] = [
  {
    name: 'the file is a generation',
    path: '/v1/projects/a/b/generations',
    json: (body) => assert.equal(body.generations.length, 1),
  },
  {
    name: 'a dry run fetches nothing and says what to do',
    method: 'POST',
    path: '/v1/projects/a/b/generations/1/dry-run',
    body: { questions: [{ query: 'x' }] },
    json: ({ questions: [{ now, would }] }) => {
      for (const { error } of [now, would]) assert.match(error, /org\/\w+.*pull it first/);
      assert.equal(hub.seen.length, 0);
    },
  },
  { name: 'no task at first', path: '/v1/tasks', json: (body) => assert.deepEqual(body, { tasks: [] }) },
  {
    name: 'a chat fetches the model that the project names, once',
    method: 'POST',
    path: CHAT,
    body: { ...chat, model: 'chat' },
    json: (body) => {
      assert.equal(body.choices[0].message.role, 'assistant');
      assert.equal(asked('org/chat'), 1);
    },
  },
  {
    name: 'the fetch is a task of the machine',
    path: '/v1/tasks',
    json: ({ tasks: [one, ...others] }) => {
      assert.equal(others.length, 0);
      assert.deepEqual([one.state, one.meta.model, one.meta.progress, one.meta.total], ['SUCCESS', 'org/chat:Q8_0', 100, puppet.length]);
      task = one.task_id;
    },
  },
  { name: 'a task by its id', path: () => `/v1/tasks/${task}`, contains: ['"repository":"org/chat"', 'is here'] },
  {
    name: 'a task that has ended cannot be cancelled',
    method: 'DELETE',
    path: () => `/v1/tasks/${task}`,
    json: (body) => assert.deepEqual([body.cancelled, body.already_completed], [false, true]),
  },
  { name: 'an unknown task', path: '/v1/tasks/none', status: 404, contains: ['TaskNotFound', 'GET /v1/tasks'] },
  { name: 'the download is an event of the server', path: '/v1/event_logs?type=download', contains: ['org/chat:Q8_0'] },
  {
    name: 'the same again asks no hub',
    method: 'POST',
    path: CHAT,
    body: { ...chat, model: 'chat' },
    json: () => assert.equal(asked('org/chat'), 1),
  },
  {
    name: 'a stream waits for its model',
    method: 'POST',
    path: CHAT,
    body: { ...chat, model: 'streamed', stream: true },
    contains: ['data: [DONE]'],
    json: () => assert.equal(asked('org/streamed'), 1),
  },
  {
    name: 'a model that the hub does not have',
    method: 'POST',
    path: CHAT,
    body: { ...chat, model: 'unknown' },
    status: 404,
    contains: ['ModelNotFound', 'org/unknown is not on this machine and could not be fetched', 'check the name'],
  },
  {
    name: 'a query fetches the embedder of its database',
    method: 'POST',
    path: '/v1/projects/a/b/rag/query',
    body: { query: 'tea' },
    json: () => assert.ok(asked('org/embedder') > 0),
  },
  {
    name: 'a fit fetches its base model',
    method: 'POST',
    path: '/v1/ml/classifier/fit',
    body: { model: 'c', base_model: 'org/base', training_data: examples },
    contains: ['org/base'],
    json: () => assert.ok(asked('org/base') > 0),
  },
  {
    name: 'a name that comes only in a request is never fetched',
    method: 'POST',
    path: '/v1/nlp/embeddings',
    body: { model: 'org/only-asked', input: 'x' },
    status: 404,
    contains: ['quern pull org/only-asked'],
    json: () => assert.equal(hub.seen.filter(({ path }) => path.includes('only-asked')).length, 0),
  },
];

scenarios(
  'models that are fetched on their first use',
  {
    endpoints: coreEndpoints,
    context: () =>
      openRuntime({
        version: '0.0.0',
        dataDir,
        runtimeUrls: [],
        runtimePort: 1,
        datasetQuotaBytes: 1024 ** 3,
        pullsOnUse: true,
        startRunner: () => Promise.reject(new Error('not in this test')),
      }),
    close: async (runtime) => {
      await runtime.close();
      await hub.close();
    },
  },
  table,
);
