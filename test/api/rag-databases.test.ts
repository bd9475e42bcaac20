import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import { writeProject } from '../support/dataset-stage.js';
import { DOCUMENTS, DOCUMENTS_PROJECT } from '../support/retrieval-project.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { until } from '../support/until.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-databases-'));
const P = '/v1/projects/ns/p';
const RAG = `${P}/rag`;
const DATABASES = `${RAG}/databases`;
const PLAIN = 'version: v1\nruntime: {models: [{name: m, provider: universal, model: x}]}\n';
writeProject(dataDir, 'ns', 'p', DOCUMENTS_PROJECT);
writeProject(dataDir, 'ns', 'plain', PLAIN);
writeProject(dataDir, 'ns', 'bare', `${PLAIN}rag: {}\n`);
writeProject(
  dataDir,
  'ns',
  'defaults',
  `${PLAIN}rag:\n  components:\n    embedding_strategies: [{name: e, type: LexicalEmbedder}]\n    retrieval_strategies: [{name: r, type: BM25Retriever}]\n    defaults: {embedding_strategy: e, retrieval_strategy: r}\n`,
);
writeProject(
  dataDir,
  'ns',
  'lame',
  `${PLAIN}rag:\n  databases:\n    - {name: wrong, type: NativeStore, config: {metric: odd}, embedding_strategies: [{name: e, type: LexicalEmbedder}], retrieval_strategies: [{name: n, type: BM25Retriever}]}\ndatasets: [{name: d, database: wrong}]\n`,
);
let stage: RetrievalStage;

const INLINE = {
  embedding_strategies: [{ name: 'e', type: 'LexicalEmbedder' }],
  retrieval_strategies: [{ name: 'r', type: 'BM25Retriever' }],
};
const fileText = (project: string): string => readFileSync(join(dataDir, 'projects/ns', project, 'project.yaml'), 'utf8');
const create = (name: string, body: object, more: Omit<Scenario, 'name' | 'path' | 'body'> = {}, project = 'p'): Scenario => ({
  name,
  method: 'POST',
  path: `/v1/projects/ns/${project}/rag/databases`,
  body,
  ...more,
});
const patch = (name: string, body: object, more: Omit<Scenario, 'name' | 'path' | 'body'> = {}, database = 'spare_db'): Scenario => ({
  name,
  method: 'PATCH',
  path: `${DATABASES}/${database}`,
  body,
  ...more,
});
const LISTS: Scenario[] = [
  {
    name: '64 the list, in the order of the file; the first is the default',
    path: DATABASES,
    json: (body) => {
      assert.equal(body.default_database, null);
      assert.deepEqual(
        body.databases.map((one: { name: string; is_default: boolean }) => [one.name, one.is_default]),
        [
          ['first_db', true],
          ['second_db', false],
          ['spare_db', false],
        ],
      );
      assert.deepEqual(body.databases[1], {
        name: 'second_db',
        type: 'NativeStore',
        is_default: false,
        embedding_strategies: [{ name: 'words', type: 'LexicalEmbedder', priority: 0, is_default: true }],
        retrieval_strategies: [{ name: 'near', type: 'BasicSimilarityStrategy', is_default: true }],
      });
      const marks = (list: { name: string; is_default: boolean }[]): unknown[] =>
        list.filter((one) => one.is_default).map((one) => one.name);
      assert.deepEqual(marks(body.databases[0].retrieval_strategies), ['near']);
      assert.deepEqual([marks(body.databases[2].embedding_strategies), marks(body.databases[2].retrieval_strategies)], [['b'], ['d']]);
    },
  },
  {
    name: '64 no databases',
    path: '/v1/projects/ns/bare/rag/databases',
    json: (body) => assert.deepEqual(body, { databases: [], default_database: null }),
  },
  {
    name: '64 no rag section',
    path: '/v1/projects/ns/plain/rag/databases',
    status: 400,
    contains: ['RAG not configured for this project'],
  },
  {
    name: '6 the detail shows strategies in place of references',
    path: `${DATABASES}/second_db`,
    lacks: ['"embedding_strategy"', '"retrieval_strategy"'],
    json: (body) =>
      assert.deepEqual(body, {
        name: 'second_db',
        type: 'NativeStore',
        config: {},
        embedding_strategies: [{ name: 'words', type: 'LexicalEmbedder', config: {}, priority: 0 }],
        retrieval_strategies: [{ name: 'near', type: 'BasicSimilarityStrategy', config: {}, default: true }],
        default_embedding_strategy: 'words',
        default_retrieval_strategy: 'near',
        dependent_datasets: ['others'],
      }),
  },
  { name: 'an unknown database', path: `${DATABASES}/nope`, status: 404, contains: ['nope', 'first_db'] },
];

const CHANGES: Scenario[] = [
  create(
    '65 a database by references',
    { name: 'by_reference', type: 'NativeStore', embedding_strategy: 'words', retrieval_strategy: 'near' },
    {
      status: 201,
      json: ({ database }) => {
        assert.deepEqual([database.name, database.is_default, database.embedding_strategies[0].name], ['by_reference', false, 'words']);
        assert.match(fileText('p'), /# by reference/);
      },
    },
  ),
  create(
    '65 a database inline',
    { name: 'inline', type: 'ChromaStore', config: { collection_name: 'c' }, ...INLINE, default_retrieval_strategy: 'r' },
    { status: 201 },
  ),
  create(
    '65 a database of the defaults',
    { name: 'by_default', type: 'NativeStore' },
    { status: 201, contains: ['"e"', '"r"'] },
    'defaults',
  ),
  create(
    '65 a reference beside a list',
    { name: 'x', type: 'NativeStore', ...INLINE, embedding_strategy: 'words' },
    { status: 400, contains: ['embedding_strategy', 'embedding_strategies'] },
  ),
  create(
    '65 an unknown reference',
    { name: 'x', type: 'NativeStore', embedding_strategy: 'nope', retrieval_strategy: 'near' },
    { status: 400, contains: ["'nope' not found in components.embedding_strategies"] },
  ),
  create(
    '65 nothing that could embed',
    { name: 'x', type: 'NativeStore', retrieval_strategy: 'near' },
    { status: 400, contains: ['No embedding strategy provided or resolved'] },
  ),
  create('65 a name that is taken', { name: 'inline', type: 'NativeStore', ...INLINE }, { status: 409, contains: ['already exists'] }),
  create('65 a name that cannot be one', { name: 'My-DB', type: 'NativeStore', ...INLINE }, { status: 422, contains: ['name'] }),
  create(
    'a type that there is not',
    { name: 'x', type: 'OddStore', ...INLINE },
    { status: 400, contains: ['Invalid database configuration', 'OddStore', 'NativeStore'] },
  ),
  create(
    'a strategy that cannot be one',
    { name: 'x', type: 'NativeStore', ...INLINE, retrieval_strategies: [{ name: 'r', type: 'Odd' }] },
    { status: 400, contains: ['Odd'] },
  ),
  create(
    'a default that is not in its list',
    { name: 'x', type: 'NativeStore', ...INLINE, default_retrieval_strategy: 'nope' },
    { status: 400, contains: ["'nope'", '(r)'] },
  ),
  create('no rag section', { name: 'x', type: 'NativeStore', ...INLINE }, { status: 400, contains: ['RAG not configured'] }, 'plain'),
  create(
    'an empty rag section',
    { name: 'x', type: 'NativeStore', ...INLINE },
    { status: 201, json: ({ database }) => assert.equal(database.is_default, true) },
    'bare',
  ),
  patch('66 a default that is not in its list', { default_embedding_strategy: 'nope' }, { status: 400, contains: ["'nope'", 'a, b'] }),
  patch('66 an unknown database', {}, { status: 404 }, 'nope'),
  patch(
    '66 a name is no part of a change',
    { name: 'other', type: 'FAISSStore', default_embedding_strategy: null },
    {
      json: (body) => assert.deepEqual([body.name, body.type, body.default_embedding_strategy], ['spare_db', 'NativeStore', 'b']),
    },
  ),
  patch(
    'lists are replaced, and the default goes with them',
    { embedding_strategies: [{ name: 'z', type: 'LexicalEmbedder' }], config: { distance_metric: 'l2' } },
    {
      json: async (body) => {
        assert.deepEqual(body.embedding_strategies, [{ name: 'z', type: 'LexicalEmbedder', config: {}, priority: 0 }]);
        assert.deepEqual([body.default_embedding_strategy, body.default_retrieval_strategy], ['z', 'd']);
        assert.equal((await stage.call('GET', `${RAG}/stats?database=spare_db`)).distance_metric, 'l2');
      },
    },
  ),
  patch(
    'a list that holds the new default',
    {
      retrieval_strategies: [
        { name: 'n', type: 'BM25Retriever' },
        { name: 'o', type: 'BM25Retriever' },
      ],
      default_retrieval_strategy: 'o',
    },
    {
      json: (body) => assert.deepEqual([body.retrieval_strategies.length, body.default_retrieval_strategy], [2, 'o']),
    },
  ),
  patch(
    'a list takes the place of a reference',
    { embedding_strategies: [{ name: 'own', type: 'LexicalEmbedder' }] },
    {
      json: (body) => {
        assert.deepEqual([body.default_embedding_strategy, body.default_retrieval_strategy], ['own', 'near']);
        assert.ok(!/embedding_strategy: words/.test(fileText('p').split('second_db')[1]!.split('spare_db')[0]!));
      },
    },
    'second_db',
  ),
  patch(
    'a secret is kept, and not shown',
    {
      config: { api_key: 'st-secret' },
      embedding_strategies: [
        { name: 'z', type: 'LexicalEmbedder' },
        { name: 'k', type: 'OpenAIEmbedder', config: { api_key: 'em-secret', base_url: 'http://me:word@127.0.0.1:9/v1' } },
      ],
    },
    {
      lacks: ['st-secret', 'em-secret', 'me:word'],
      json: (body) => {
        assert.equal(body.config.api_key, '***');
        assert.deepEqual(body.embedding_strategies[1].config, { api_key: '***', base_url: 'http://***@127.0.0.1:9/v1' });
        assert.match(fileText('p'), /st-secret/);
        assert.match(fileText('p'), /em-secret/);
      },
    },
  ),
  patch(
    'what is shown in place of a secret leaves it as it is, wherever its strategy stands',
    {
      config: { api_key: '***', collection_name: 'c' },
      embedding_strategies: [
        { name: 'k', type: 'OpenAIEmbedder', config: { model: 'm', api_key: '***', base_url: 'http://***@127.0.0.1:9/v1' } },
        { name: 'z', type: 'LexicalEmbedder' },
      ],
    },
    {
      json: (body) => {
        assert.deepEqual(body.config, { api_key: '***', collection_name: 'c' });
        for (const secret of [/st-secret/, /em-secret/, /me:word/]) assert.match(fileText('p'), secret);
        assert.ok(!fileText('p').includes('***'));
      },
    },
  ),
  patch(
    'a secret that is not there yet cannot be left as it is',
    { embedding_strategies: [{ name: 'new', type: 'OpenAIEmbedder', config: { api_key: '***' } }] },
    { status: 422, contains: ['api_key', '***', 'SecretMissing'] },
  ),
  create(
    'nor in a new database',
    { name: 'copy', type: 'QdrantStore', config: { api_key: '***' }, ...INLINE },
    { status: 422, contains: ['api_key', 'SecretMissing'] },
  ),
  patch('an empty list', { embedding_strategies: [] }, { status: 400, contains: ['No embedding strategy'] }),
  patch('a strategy that cannot be one', { retrieval_strategies: [{ name: 'r', type: 'Odd' }] }, { status: 400, contains: ['Odd'] }),
];

const REMOVALS: Scenario[] = [
  {
    name: '67 datasets depend on it',
    method: 'DELETE',
    path: `${DATABASES}/first_db`,
    status: 409,
    contains: ['1 dataset(s) depend on it', 'docs', 'reassign'],
  },
  { name: '67 an unknown database', method: 'DELETE', path: `${DATABASES}/nope`, status: 404 },
  {
    name: '67 a default that goes is a default no more',
    path: '/v1/projects/ns/bare/rag/databases',
    json: async () => {
      const { config } = (await stage.call('GET', '/v1/projects/ns/bare')).project;
      await stage.call('PUT', '/v1/projects/ns/bare', { config: { ...config, rag: { ...config.rag, default_database: 'x' } } });
      const reply = await stage.call('DELETE', '/v1/projects/ns/bare/rag/databases/x');
      assert.deepEqual([reply.message, reply.collection_deleted, reply.database.name], ["Database 'x' deleted", true, 'x']);
      assert.deepEqual(reply.database.dependent_datasets, []);
      assert.ok(!fileText('bare').includes('default_database'));
    },
  },
  {
    name: '67 the store stays when asked, and is there again with the entry',
    path: `${DATABASES}/first_db`,
    json: async ({ dependent_datasets: dependants, type, config, embedding_strategies: embeddings, retrieval_strategies: retrievals }) => {
      assert.deepEqual(dependants, ['docs']);
      await stage.take(`${P}/datasets/docs`, DOCUMENTS);
      await stage.call('DELETE', `${P}/datasets/docs`);
      const entry = { name: 'first_db', type, config, embedding_strategies: embeddings, retrieval_strategies: retrievals };
      const kept = await stage.call('DELETE', `${DATABASES}/first_db?delete_collection=false`);
      assert.equal(kept.collection_deleted, false);
      await stage.call('POST', DATABASES, entry);
      assert.equal((await stage.call('GET', `${RAG}/stats?database=first_db`)).chunk_count, 9);
      await stage.call('DELETE', `${DATABASES}/first_db`);
      await stage.call('POST', DATABASES, entry);
      assert.equal((await stage.call('GET', `${RAG}/stats?database=first_db`)).chunk_count, 0);
    },
  },
  {
    name: '67 a database whose configuration cannot be opened goes, with what it held here',
    path: '/v1/projects/ns/lame/rag/databases',
    json: async () => {
      const folder = '/v1/projects/ns/lame/rag/databases';
      await stage.call('PATCH', `${folder}/wrong`, { config: { metric: 'cosine' } });
      await stage.take('/v1/projects/ns/lame/datasets/d', { 'a.txt': 'Something to forget.' });
      await stage.call('DELETE', '/v1/projects/ns/lame/datasets/d');
      await stage.call('PATCH', `${folder}/wrong`, { config: { metric: 'odd' } });
      assert.equal(stage.store.collections.keys({ start: ['ns', 'lame'], end: ['ns', 'lame\0'], limit: 9 }).length, 1);
      const reply = await stage.call('DELETE', `${folder}/wrong`);
      assert.deepEqual([reply.collection_deleted, reply.left_behind], [true, null]);
      assert.ok(!fileText('lame').includes('wrong'));
      assert.deepEqual(stage.store.collections.keys({ start: ['ns', 'lame'], end: ['ns', 'lame\0'], limit: 9 }), []);
    },
  },
  ...(
    [
      [
        'nobody listens',
        { host: 'http://u:canary@127.0.0.1:9' },
        'http://***@127.0.0.1:9',
        /holds a user name or password|ECONNREFUSED|No connection/,
      ],
      [
        'nobody listens, with a collection',
        { host: '127.0.0.1', port: 9, collection_name: 'mine' },
        '"mine" on 127.0.0.1',
        /No connection/,
      ],
      ['its key may not be read', { host: 'localhost', api_key: '${env:HOME}' }, 'localhost', /--allow-env HOME/],
      ['an option is wrong', { host: 'localhost', distance: 'odd', api_key: 'canary-key' }, 'localhost', /distance/],
    ] as const
  ).map(
    ([why, config, where, reason], at): Scenario => ({
      name: `67 a database on a server goes although ${why}, and the answer says what stays`,
      path: '/v1/projects/ns/lame/rag/databases',
      json: async () => {
        await stage.call('POST', '/v1/projects/ns/lame/rag/databases', { name: `far_${at}`, type: 'QdrantStore', config, ...INLINE });
        const reply = await stage.call('DELETE', `/v1/projects/ns/lame/rag/databases/far_${at}`);
        assert.equal(reply.collection_deleted, false);
        assert.ok(reply.left_behind.includes(where), reply.left_behind);
        assert.match(reply.left_behind, reason);
        assert.ok(!JSON.stringify(reply).includes('canary'));
        assert.ok(!fileText('lame').includes(`far_${at}`));
      },
    }),
  ),
  {
    name: 'a purged project leaves no chunk behind',
    path: `${DATABASES}/first_db`,
    json: async () => {
      await stage.take(`${P}/datasets/others`, { 'a.txt': 'Something to forget.' });
      assert.equal(stage.store.collections.keys({ limit: 10 }).length > 0, true);
      await stage.call('DELETE', `${P}?purge=true`);
      assert.deepEqual(stage.store.collections.keys({ start: ['ns', 'p'], end: ['ns', 'q'], limit: 10 }), []);
      await until(() => stage.store.waste.keys({ limit: 1 }).length === 0, 'the chunks are gone');
      for (const table of [stage.store.chunks, stage.store.vectors, stage.store.chunkIds]) assert.deepEqual(table.keys({ limit: 1 }), []);
    },
  },
];

scenarios<Runtime>(
  'retrieval databases over the core API',
  {
    endpoints: coreEndpoints,
    context: async () => {
      stage = await openRetrievalStage(dataDir);
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  [...LISTS, ...CHANGES, ...REMOVALS],
);
