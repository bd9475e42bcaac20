import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import { writeProject } from '../support/dataset-stage.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { ANY_EVENTS, type Scenario, scenarios } from '../support/scenario.js';
import { FINISH } from '../unit/runtime/chat/scripted-provider.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-help-'));
const HELP = '/v1/projects/llamafarm/project_seed';
const FILE = join(dataDir, 'built-in/llamafarm/project_seed/project.yaml');
let stage: RetrievalStage;
let session: string;

writeProject(
  dataDir,
  'ns',
  'ill',
  `version: v1
name: ill
namespace: ns
runtime:
  default_model: big
  models:
    - {name: big, provider: universal, model: acme/very-large-model}
    - {name: hosted, provider: openai, model: gpt, api_key: sk-secret-1234567890abcdef, base_url: 'http://127.0.0.1:9/v1'}
    - {name: keyed, provider: openai, model: gpt, api_key: '\${env:QUERN_NOT_SET_ANYWHERE}'}
rag:
  databases:
    - {name: documents, type: NativeStore, embedding_strategies: [{name: e, type: UniversalEmbedder, config: {model: acme/embedder}}], retrieval_strategies: [{name: r, type: BasicSimilarityStrategy}]}
    - {name: lonely, type: NativeStore, embedding_strategies: [{name: e, type: LexicalEmbedder}], retrieval_strategies: [{name: r, type: BasicSimilarityStrategy}]}
  data_processing_strategies: [{name: texts, parsers: [{type: auto}]}]
datasets: [{name: notes, data_processing_strategy: texts, database: documents}]
`,
);
writeProject(
  dataDir,
  'ns',
  'well',
  'version: v1\nname: well\nnamespace: ns\nruntime: {models: [{name: tiny, provider: universal, model: quern-tiny}]}\n',
);
writeProject(dataDir, 'ns', 'broken', 'runtime: {models: 7}\n');
// A project that a client of the reference system left in its own folder: neither shown nor changed.
mkdirSync(join(dataDir, 'projects/llamafarm/project_seed'), { recursive: true });
const FOREIGN = join(dataDir, 'projects/llamafarm/project_seed/llamafarm.yaml');
writeFileSync(FOREIGN, 'version: v1\nname: foreign\n');

const ask = (question: string, headers: Record<string, string>, more: Partial<Scenario>): Scenario => ({
  name: `${question} ${JSON.stringify(headers)}`,
  method: 'POST',
  path: `${HELP}/chat/completions`,
  headers,
  body: { messages: [{ role: 'user', content: question }] },
  ...more,
});
const textOf = (body: { choices: { message: { content: string } }[] }): string => body.choices[0]!.message.content;
const about = (name: string): Record<string, string> => ({ 'x-active-project': name, 'x-no-session': '1' });
const lastAsked = (): string => JSON.stringify(stage.provider.asked.at(-1)!.request.messages);

const PROJECT: Scenario[] = [
  { name: 'it is there before the first question', path: HELP, contains: ['project_seed', 'quern-tiny', '"validation_error":null'] },
  { name: 'it is in no list of the user', path: '/v1/projects/ns', lacks: ['project_seed'] },
  { name: 'nothing is read before it is asked', path: `${HELP}/datasets`, json: ({ datasets }) => assert.deepEqual(datasets[0].files, []) },
  // It is searched as any project is; the first search waits for its pages, however long they take.
  ...Object.entries({
    'What may a manifest of an example say?': 'examples.md',
    'How long are events kept?': 'events.md',
    'How do I approve a tool server?': 'mcp.md',
    'Which voices can speak?': 'speech.md',
    'How can I add a new parser?': 'adding.md',
    'What happens when somebody interrupts the assistant while it speaks?': 'voice.md',
    'How many model calls may a turn with tools have?': 'tools.md',
  }).map(
    ([query, page]): Scenario => ({
      name: `${query} ${page}`,
      method: 'POST',
      path: `${HELP}/rag/query`,
      body: { query, top_k: 4 },
      json: ({ results }) => assert.ok(results.some((one: { metadata: { source: string } }) => one.metadata.source === page)),
    }),
  ),
  ask(
    'How do I put my own example into the data directory?',
    {},
    {
      json: (body) => {
        assert.match(textOf(body), /^echo: .*\n\nSources:\n- docs\/examples\.md: .*data directory/s);
        assert.match(lastAsked(), /manifest\.yaml/);
      },
    },
  ),
  {
    name: 'its pages are those of the documentation',
    path: `${HELP}/datasets`,
    json: ({ datasets: [pages] }) => {
      const names = pages.details.files_metadata.map((file: { original_file_name: string }) => file.original_file_name);
      for (const name of ['README.md', 'examples.md', 'speech.md']) assert.ok(names.includes(name), name);
      for (const { chunk_count: count } of pages.details.files_metadata) assert.ok(count > 0);
    },
  },
  {
    name: 'a stream ends with the pages',
    method: 'POST',
    path: `${HELP}/chat/completions`,
    headers: { 'x-no-session': '1' },
    body: { stream: true, messages: [{ role: 'user', content: 'Which speech models are there?' }] },
    events: [ANY_EVENTS, /Sources:.*docs\/\w+\.md: /, ANY_EVENTS, '[DONE]'],
  },
  {
    name: 'JSON stays JSON',
    method: 'POST',
    path: `${HELP}/chat/completions`,
    headers: about('ns/ill'),
    body: { response_format: { type: 'json_object' }, messages: [{ role: 'user', content: 'Say it as JSON.' }] },
    json: (body) => assert.equal(textOf(body), 'echo: Say it as JSON.'),
  },
];

const PROBLEMS: Scenario[] = [
  ask('What is wrong?', about('ns/ill'), {
    contains: [
      'About ns/ill:',
      'acme/very-large-model',
      'quern pull',
      'QUERN_NOT_SET_ANYWHERE',
      'acme/embedder',
      'notes\\" has no documents',
      'Sources:',
    ],
    lacks: ['sk-secret'],
    json: () => {
      assert.match(lastAsked(), /the default is big.*No dataset goes into lonely/s);
      assert.doesNotMatch(lastAsked(), /sk-secret/);
    },
  }),
  ask('Which model do I use?', about('ns/well'), {
    lacks: ['About ns/well'],
    json: () => assert.match(lastAsked(), /Its models are tiny \(universal: quern-tiny\); the default is tiny/),
  }),
  {
    name: 'an agent is imported',
    method: 'POST',
    path: '/v1/examples/tool-library/import-project',
    body: { namespace: 'ns', name: 'agent', process: false },
  },
  ask('What is wrong?', about('ns/agent'), {
    contains: ['stock\\" waits for approval', '/v1/projects/ns/agent/mcp/servers/stock/approve', 'and 16 more is in its database yet'],
  }),
  ask('What is wrong?', about('ns/broken'), { contains: ['About ns/broken', 'runtime.models'] }),
  ask('What is wrong?', about('ns/nope'), { contains: ['ns/nope not found'] }),
  ask('What is wrong?', about('llamafarm/project_seed'), { lacks: ['About '] }),
  ...['../../etc', 'ns', 'a/b/c', `${'x'.repeat(3_000)}/y`, 'ns/..', 'ns/%2e%2e'].map((name) =>
    ask('What is wrong?', about(name), { contains: ['X-Active-Project must name a project as namespace/project'], lacks: ['passwd'] }),
  ),
  ask('First?', { 'x-active-project': 'ns/ill', 'x-session-id': 'one' }, { contains: ['About ns/ill:'] }),
  ask('Again?', { 'x-active-project': 'ns/ill', 'x-session-id': 'one' }, { lacks: ['About ns/ill:'] }),
  ask('Elsewhere?', { 'x-active-project': 'ns/ill', 'x-session-id': 'two' }, { contains: ['About ns/ill:'] }),
  ask(
    'New?',
    { 'x-active-project': 'ns/ill' },
    {
      contains: ['About ns/ill:'],
      json: (_body, answer) => {
        session = answer.headers['x-session-id']!;
      },
    },
  ),
  {
    name: 'the session that it gave knows what it told',
    method: 'POST',
    path: `${HELP}/chat/completions`,
    headers: () => ({ 'x-active-project': 'ns/ill', 'x-session-id': session }),
    body: { messages: [{ role: 'user', content: 'And again?' }] },
    lacks: ['About ns/ill:'],
  },
  {
    name: 'a failed chat of the project',
    method: 'POST',
    path: '/v1/projects/ns/well/chat/completions',
    body: { messages: [{ role: 'user', content: 'fail' }] },
    status: 500,
  },
  ask('What is wrong?', about('ns/well'), { contains: ['The last failed inference', 'The chat service failed'], lacks: ['the oracle'] }),
];

const REFUSED: Scenario[] = [
  ['PUT', HELP, { config: {} }],
  ['DELETE', HELP],
  ['DELETE', `${HELP}?purge=true`],
  ['POST', `${HELP}/datasets`, { name: 'x', data_processing_strategy: 'texts', database: 'documents' }],
  ['DELETE', `${HELP}/datasets/pages`],
  ['POST', `${HELP}/datasets/pages/actions`, { action_type: 'process' }],
  ['POST', `${HELP}/rag/databases`, { name: 'x', type: 'NativeStore' }],
  ['DELETE', `${HELP}/rag/databases/documents`],
  ['DELETE', `${HELP}/datasets/pages/data/${'0'.repeat(64)}`],
  ['POST', '/v1/examples/support-desk/import-data', { namespace: 'llamafarm', project: 'project_seed' }],
].map(
  ([method, path, body]): Scenario => ({
    name: `${method} ${path} is refused`,
    method: method as string,
    path: path as string,
    body,
    status: 403,
    contains: ['ReadOnlyProject', 'read only'],
  }),
);

scenarios<Runtime>(
  'the help project',
  {
    endpoints: coreEndpoints,
    context: async () => {
      stage = await openRetrievalStage(dataDir);
      const { provider } = stage;
      provider.say((request) => {
        const text = String(request.messages.at(-1)!.content);
        return text === 'fail' ? [new Error('the oracle is out')] : [{ type: 'text', text: `echo: ${text}` }, FINISH];
      });
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  [
    ...PROJECT,
    ...PROBLEMS,
    ...REFUSED,
    {
      name: 'nothing of it has changed',
      path: HELP,
      json: () => {
        assert.ok(existsSync(FILE));
        assert.equal(readFileSync(FOREIGN, 'utf8'), 'version: v1\nname: foreign\n');
      },
    },
  ],
);
