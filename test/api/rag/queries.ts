import assert from 'node:assert/strict';
import { cities, dataDir, P, query, RAG, type Result, stage } from '../../support/rag-stage.js';
import { DOCUMENTS } from '../../support/retrieval-project.js';
import type { Scenario } from '../../support/scenario.js';

/** Questions, their strategies, thresholds and filters. */
export const QUERIES: Scenario[] = [
  {
    name: 'files of every kind are taken in',
    path: `${RAG}/stats`,
    json: async (empty) => {
      assert.deepEqual([empty.database, empty.chunk_count, empty.embedding_dimension, empty.last_updated], ['first_db', 0, 256, null]);
      const task = await stage.take(`${P}/datasets/docs`, DOCUMENTS);
      assert.equal(task.state, 'SUCCESS', JSON.stringify(task.result));
      assert.deepEqual([task.result.processed_files, task.result.stored_count], [5, 9]);
      const again = await stage.take(`${P}/datasets/docs`, {});
      assert.deepEqual([again.state, again.result.skipped_files, again.result.stored_count], ['SUCCESS', 5, 0]);
    },
  },
  query(
    '68 the default database and its default strategy answer',
    { query: 'Where does a volcano erupt?' },
    {
      json: (body) => {
        const { results, processing_time_ms: time, ...rest } = body;
        assert.deepEqual(rest, {
          query: 'Where does a volcano erupt?',
          total_results: 3,
          retrieval_strategy_used: 'near',
          database_used: 'first_db',
        });
        assert.ok(time > 0);
        assert.deepEqual(
          results.slice(0, 2).map(({ metadata }: Result) => metadata.file_name),
          ['Volcano.md', 'Volcano.md'],
        );
        const scores = results.map(({ score }: Result) => score);
        assert.deepEqual(
          scores,
          scores.toSorted((a: number, b: number) => b - a),
        );
        const [first] = results;
        assert.match(first.chunk_id, new RegExp(`^doc_${first.document_id.slice(0, 12)}_chunk_[01]_[0-9a-f]{8}$`));
        assert.equal(first.metadata.similarity_score, first.score);
        assert.equal(first.explanation, undefined);
      },
      lacks: [dataDir],
    },
  ),
  query(
    '68 top_k of the request goes over that of the strategy',
    { query: 'engine', top_k: 1 },
    {
      json: ({ results }) =>
        assert.deepEqual(
          results.map(({ metadata }: Result) => [metadata.file_name, typeof metadata.page]),
          [['engine.pdf', 'number']],
        ),
    },
  ),
  query(
    'a strategy of the request',
    { query: 'turnover', retrieval_strategy: 'lexical' },
    {
      json: ({ results, retrieval_strategy_used: used }) => {
        assert.equal(used, 'lexical');
        assert.deepEqual(
          results.map(({ metadata }: Result) => metadata.file_name),
          ['letter.docx'],
        );
      },
    },
  ),
  query(
    '68 a threshold that nothing reaches',
    { query: 'engine', score_threshold: 0.9999 },
    {
      json: (body) => assert.deepEqual([body.results, body.total_results], [[], 0]),
    },
  ),
  query(
    '68 the threshold of a strategy',
    { query: 'engine', retrieval_strategy: 'strict' },
    { json: ({ total_results: total }) => assert.equal(total, 0) },
  ),
  query(
    '68 an empty database',
    { query: 'engine', database: 'second_db' },
    {
      json: (body) => assert.deepEqual([body.results, body.total_results, body.database_used], [[], 0, 'second_db']),
    },
  ),
  query(
    '68 an unknown database is named with the known ones',
    { query: 'x', database: 'nope' },
    { status: 404, contains: ["'nope'", 'first_db'] },
  ),
  query(
    '68 an unknown strategy is named with the known ones',
    { query: 'x', retrieval_strategy: 'nope' },
    { status: 404, contains: ["'nope'", 'near'] },
  ),
  query(
    '69 a filter of one bound',
    { query: 'city', top_k: 10, metadata_filters: { year: { $gte: 2020 } } },
    {
      json: ({ results }) => assert.deepEqual(cities(results), ['Bergen', 'Paris']),
    },
  ),
  query(
    '69 a filter without the dollar',
    { query: 'city', top_k: 10, metadata_filters: { year: { gte: 2019, lte: 2021 } } },
    {
      json: ({ results }) => assert.deepEqual(cities(results), ['Bergen', 'Oslo']),
    },
  ),
  query(
    '69 a filter by list, and an exact value',
    { query: 'city', top_k: 10, metadata_filters: { tag: { $in: ['a'] }, file_name: 'cities.csv' } },
    {
      json: ({ results }) => assert.deepEqual(cities(results), ['Oslo', 'Paris']),
    },
  ),
  query(
    '69 an unknown operator',
    { query: 'x', metadata_filters: { year: { $regex: 'x' } } },
    { status: 400, contains: ['$regex', '$gte'] },
  ),
  query(
    'an explanation on request',
    { query: 'bread', top_k: 1, explain: true },
    {
      json: ({ results: [first] }) => assert.deepEqual([first.explanation.dense_rank, first.explanation.dense_score], [1, first.score]),
    },
  ),
  query(
    'a hybrid answer, asked in several ways',
    { query: 'sourdough bread', top_k: 2, hybrid_alpha: 0.5, query_expansion: true, explain: true },
    {
      json: ({ results: [first] }) => {
        assert.equal(first.metadata.file_name, 'bread.html');
        assert.ok(first.explanation.queries.length > 1);
      },
    },
  ),
  query(
    'a distance of the request, and a bound of tokens',
    { query: 'engine oil', distance_metric: 'euclidean', max_tokens: 9, top_k: 3 },
    {
      json: ({ results }) =>
        assert.deepEqual(
          results.map(({ content }: Result) => content),
          ['The diesel engine burns heavy oil.'],
        ),
    },
  ),
  query(
    '71 a question of two parts is taken apart',
    { query: 'Where does the volcano Hekla erupt, and also who built the steam engine?', retrieval_strategy: 'turns', explain: true },
    {
      json: ({ results }) => {
        assert.equal(results[0].explanation.sub_queries.length, 2);
        assert.deepEqual(
          new Set(results.slice(0, 2).map(({ metadata }: Result) => metadata.file_name)),
          new Set(['Volcano.md', 'engine.pdf']),
        );
      },
    },
  ),
  query(
    '71 a short one is not',
    { query: 'Hekla and also Watt', retrieval_strategy: 'turns', explain: true },
    {
      json: ({ results }) => assert.equal(results[0].explanation.sub_queries, undefined),
    },
  ),
  query(
    '71 a reranking model that the project does not have',
    { query: 'x', retrieval_strategy: 'crossed' },
    { status: 404, contains: ['nobody', 'plain', 'quern pull'] },
  ),
  query('68 a threshold beyond 1', { query: 'x', score_threshold: 1.1 }, { status: 422, contains: ['score_threshold'] }),
  query('nothing is asked', { query: '  ' }, { status: 422 }),
  query('no query at all', {}, { status: 422, contains: ['query'] }),
  query('too many results', { query: 'x', top_k: 1001 }, { status: 422, contains: ['top_k'] }),
  {
    name: 'no rag section',
    method: 'POST',
    path: '/v1/projects/ns/plain/rag/query',
    body: { query: 'x' },
    status: 400,
    contains: ['RAG not configured'],
  },
  {
    name: '68 no database at all',
    method: 'POST',
    path: '/v1/projects/ns/bare/rag/query',
    body: { query: 'x' },
    status: 400,
    contains: ['No database'],
  },
  {
    name: 'an embedding strategy that is missing',
    method: 'POST',
    path: '/v1/projects/ns/lame/rag/query',
    body: { query: 'x' },
    status: 500,
    contains: ['Failed to perform RAG query'],
  },
  {
    name: '68 no strategy to ask with',
    method: 'POST',
    path: '/v1/projects/ns/lame/rag/query',
    body: { query: 'x', database: 'blind' },
    status: 400,
    contains: ['blind'],
  },
  { name: 'an unknown project', method: 'POST', path: '/v1/projects/ns/none/rag/query', body: { query: 'x' }, status: 404 },
];
