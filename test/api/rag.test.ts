import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
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
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-rag-'));
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
  'lame',
  `${PLAIN}rag:\n  databases:\n    - {name: mute, type: NativeStore, retrieval_strategies: [{name: n, type: BasicSimilarityStrategy}]}\n    - {name: blind, type: NativeStore, embedding_strategies: [{name: e, type: LexicalEmbedder}]}\n    - {name: wrong, type: NativeStore, config: {metric: odd}, embedding_strategies: [{name: e, type: LexicalEmbedder}], retrieval_strategies: [{name: n, type: BM25Retriever}]}\n`,
);
writeProject(
  dataDir,
  'ns',
  'two',
  `${PLAIN}rag:\n  databases:\n    - {name: d, type: NativeStore, embedding_strategies: [{name: a, type: LexicalEmbedder}, {name: b, type: LexicalEmbedder}], retrieval_strategies: [{name: n, type: BM25Retriever}]}\n`,
);
writeProject(
  dataDir,
  'ns',
  'versions',
  `${PLAIN}rag:\n  databases:\n    - {name: d, type: NativeStore, embedding_strategies: [{name: a, type: LexicalEmbedder}], retrieval_strategies: [{name: n, type: BasicSimilarityStrategy}]}\ndatasets: [{name: docs, database: d}]\n`,
);
let stage: RetrievalStage;

type Result = {
  content: string;
  score: number;
  metadata: Record<string, unknown>;
  chunk_id: string;
  document_id: string;
  explanation?: unknown;
};

/** A question to the project of all kinds. */
const query = (name: string, body: object, more: Omit<Scenario, 'name' | 'path' | 'body'> = {}): Scenario => ({
  name,
  method: 'POST',
  path: `${RAG}/query`,
  body,
  ...more,
});
const cities = (results: Result[]): unknown[] => results.map(({ metadata }) => metadata.city).sort();

const QUERIES: Scenario[] = [
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

const INSPECTION: Scenario[] = [
  {
    name: '70 documents, by lower-case name, one row each',
    path: '/v1/projects/ns/p/rag/databases/first_db/documents',
    json: (rows) => {
      assert.deepEqual(
        rows.map((row: { filename: string; chunk_count: number; parser_used: string }) => [row.filename, row.chunk_count, row.parser_used]),
        [
          ['bread.html', 1, 'HTMLParser'],
          ['cities.csv', 3, 'CSVParser'],
          ['engine.pdf', 2, 'PDFParser'],
          ['letter.docx', 1, 'DocxParser'],
          ['Volcano.md', 2, 'MarkdownParser'],
        ],
      );
      assert.deepEqual(Object.keys(rows[0]).sort(), [
        'chunk_count',
        'date_ingested',
        'filename',
        'id',
        'metadata',
        'parser_used',
        'size_bytes',
      ]);
      assert.equal(rows[1].size_bytes, (DOCUMENTS['cities.csv'] as string).length);
      assert.ok(Math.abs(Date.now() - Date.parse(rows[0].date_ingested)) < 3_600_000);
      assert.deepEqual(rows[0].metadata, { source_type: 'file', title: 'Baking' });
      assert.deepEqual(rows[1].metadata, { source_type: 'file' });
    },
  },
  {
    name: 'whatever a document is shown with can be a filter',
    path: `${DATABASES}/first_db/documents`,
    json: async (rows) => {
      for (const { metadata, ...row } of rows) {
        for (const [key, value] of Object.entries<unknown>({ ...row, ...metadata })) {
          const body = await stage.call('POST', `${RAG}/query`, {
            query: 'x',
            top_k: 50,
            metadata_filters: { [key]: value, filename: row.filename },
          });
          assert.equal(body.total_results, row.chunk_count, `${key}: ${JSON.stringify(body.warnings)}`);
        }
      }
    },
  },
  {
    name: 'whatever an answer is shown with can be a filter, but its score',
    method: 'POST',
    path: `${RAG}/query`,
    body: { query: 'bread', top_k: 1 },
    json: async ({ results: [first] }) => {
      const { similarity_score: _, ...metadata } = first.metadata;
      for (const [key, value] of Object.entries<unknown>({ ...metadata, chunk_id: first.chunk_id, document_id: first.document_id })) {
        const body = await stage.call('POST', `${RAG}/query`, { query: 'x', top_k: 50, metadata_filters: { [key]: value } });
        assert.ok(
          body.results.some((one: Result) => one.chunk_id === first.chunk_id),
          key,
        );
      }
    },
  },
  query(
    'a filter on a key that no chunk has names it, and those that there are',
    { query: 'city', metadata_filters: { filenme: 'bread.html', year: 2020 } },
    {
      json: ({ results, warnings: [warning, ...more] }) => {
        assert.deepEqual([results, more], [[], []]);
        assert.match(warning, /'filenme'.*none of the 9 chunks.*file_name/);
        assert.ok(!warning.includes("'year'"));
      },
    },
  ),
  query(
    'a filter that lets nothing through by its value is no mistake',
    { query: 'city', metadata_filters: { filename: 'absent.html' } },
    { json: (body) => assert.deepEqual([body.results, 'warnings' in body], [[], false]) },
  ),
  {
    name: '70 a page of documents, by the older route',
    path: '/v1/projects/ns/p/rag/documents?database=first_db&offset=1&limit=2',
    json: (rows) =>
      assert.deepEqual(
        rows.map((row: { filename: string }) => row.filename),
        ['cities.csv', 'engine.pdf'],
      ),
  },
  {
    name: '70 documents whose name has a part, by the older route',
    path: '/v1/projects/ns/p/rag/documents?database=first_db&filter=C&offset=1',
    json: (rows) =>
      assert.deepEqual(
        rows.map((row: { filename: string }) => row.filename),
        ['letter.docx', 'Volcano.md'],
      ),
  },
  ...[0, 1001].map((limit) => ({ name: `70 limit ${limit}`, path: `${DATABASES}/first_db/documents?limit=${limit}`, status: 422 })),
  { name: '70 documents of an unknown database', path: `${DATABASES}/nope/documents`, status: 404 },
  {
    name: '49 the list of datasets says how many chunks each file has',
    path: `${P}/datasets`,
    json: ({ datasets }) => {
      const files = datasets.flatMap((one: { details: { files_metadata: object[] } }) => one.details.files_metadata);
      const counts = Object.fromEntries(
        files.map((one: { original_file_name: string; chunk_count: number }) => [one.original_file_name, one.chunk_count]),
      );
      assert.deepEqual([counts['Volcano.md'], counts['cities.csv'], counts['engine.pdf'], counts['letter.docx']], [2, 3, 2, 1]);
    },
  },
  {
    name: 'the sizes of a database',
    path: `${RAG}/stats?database=first_db`,
    json: (stats) => {
      assert.deepEqual([stats.document_count, stats.chunk_count, stats.vector_count], [5, 9, 9]);
      assert.deepEqual([stats.embedding_dimension, stats.distance_metric, stats.metadata], [256, 'cosine', null]);
      assert.ok(stats.collection_size_bytes > 9 * 256 * 4 && stats.index_size_bytes > 0);
      assert.equal(stats.storage_bytes, stats.collection_size_bytes + stats.index_size_bytes);
      assert.match(stats.storage_human, /^\d+\.\d[KM]B$/);
      assert.ok(Date.parse(stats.last_updated) <= Date.now());
    },
  },
  {
    name: 'a store that cannot be opened has no sizes, and says why',
    path: '/v1/projects/ns/lame/rag/stats?database=wrong',
    json: (stats) => {
      assert.deepEqual([stats.chunk_count, stats.embedding_dimension, stats.distance_metric], [0, 384, 'unknown']);
      assert.match(stats.metadata.error, /metric.*odd/);
    },
  },
  { name: 'the sizes of nothing', path: '/v1/projects/ns/plain/rag/stats', status: 400 },
  { name: 'the sizes of an unknown database', path: `${RAG}/stats?database=nope`, status: 404 },
  {
    name: 'a healthy database',
    path: `${RAG}/health`,
    json: (health) => {
      assert.deepEqual([health.status, health.database, health.issues], ['healthy', 'first_db', null]);
      assert.deepEqual(Object.keys(health.components).sort(), ['embeddings', 'vector_store']);
      assert.match(health.components.embeddings.message, /256/);
      assert.equal(health.components.vector_store.name, 'vector_store');
      assert.ok(health.components.vector_store.latency >= 0);
      assert.equal(health.components.vector_store.latency_ms, health.components.vector_store.latency);
      assert.match(health.last_check, /Z$/);
    },
  },
  {
    name: 'a database whose store cannot be opened',
    path: '/v1/projects/ns/lame/rag/health?database=wrong',
    json: (health) => {
      assert.deepEqual(
        [health.status, health.components.vector_store.status, health.components.embeddings.status],
        ['unhealthy', 'unhealthy', 'healthy'],
      );
      assert.equal(health.issues.length, 1);
      assert.match(health.issues[0], /^vector_store: .*odd/);
    },
  },
  { name: 'the health of nothing', path: '/v1/projects/ns/plain/rag/health', status: 400 },
  {
    name: 'space is given back',
    method: 'POST',
    path: '/v1/projects/ns/p/rag/compact',
    json: (body) => {
      assert.deepEqual([body.success, body.vectors_before, body.vectors_after], [true, 9, 9]);
      assert.ok(body.space_saved_bytes >= 0 && body.duration_seconds >= 0);
      assert.match(body.message, /B given back$/);
    },
  },
  {
    name: 'indexes are made anew',
    method: 'POST',
    path: '/v1/projects/ns/p/rag/reindex?database=first_db&strategy=words',
    json: async (body) => {
      assert.deepEqual([body.success, body.documents_processed, body.chunks_created, body.errors], [true, 5, 9, []]);
      const { results } = await stage.call('POST', `${RAG}/query`, { query: 'turnover', top_k: 1 });
      assert.equal(results[0].metadata.file_name, 'letter.docx');
    },
  },
  {
    name: 'indexes are not made anew by a strategy that the database does not have',
    method: 'POST',
    path: '/v1/projects/ns/p/rag/reindex?database=first_db&strategy=nope',
    status: 404,
    contains: ["'nope'", 'words'],
  },
  {
    name: 'indexes are not made anew by a strategy that the chunks are not by',
    method: 'POST',
    path: '/v1/projects/ns/two/rag/reindex?strategy=b',
    status: 400,
    contains: ["'b'", "'a'", 'default_embedding_strategy'],
  },
];

const preview = (name: string, body: object, more: Omit<Scenario, 'name' | 'path' | 'body'>): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/projects/ns/p/rag/databases/first_db/preview',
  body,
  ...more,
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
let hash = '';

const PREVIEWS: Scenario[] = [
  preview(
    'a file of the request is cut and not stored',
    { file_content: base64('One two. '.repeat(50)), filename: 'x/y.txt', chunk_size: 100, chunk_overlap: 20, chunk_strategy: 'sentences' },
    {
      json: async (body) => {
        const { chunks, original_text: text } = body;
        assert.deepEqual([body.filename, body.content_type, body.parser_used, body.size_bytes], ['y.txt', 'text/plain', 'TextParser', 450]);
        assert.deepEqual([body.chunk_size, body.chunk_overlap, body.chunk_strategy], [100, 20, 'sentences']);
        assert.equal(body.total_chunks, chunks.length);
        assert.ok(chunks.length > 4);
        for (const [at, chunk] of chunks.entries()) {
          assert.equal(chunk.chunk_index, at);
          assert.equal(chunk.content, text.slice(chunk.start_position, chunk.end_position));
          assert.deepEqual([chunk.char_count, chunk.word_count], [chunk.content.length, chunk.content.split(/\s+/).length]);
          assert.ok(chunk.char_count <= 100);
        }
        const sum = chunks.reduce((total: number, { char_count: count }: { char_count: number }) => total + count, 0);
        assert.deepEqual([body.total_size_with_overlaps, body.avg_chunk_size], [sum, sum / chunks.length]);
        assert.ok(body.avg_overlap_size > 0 && body.avg_overlap_size <= 20);
        assert.deepEqual(body.warnings, []);
        const [docs] = (await stage.call('GET', `${P}/datasets`)).datasets;
        hash = docs.files.find((one: string) =>
          docs.details.file_details.some(
            (file: { hash: string; original_filename: string }) => file.hash === one && file.original_filename === 'Volcano.md',
          ),
        );
        assert.equal((await stage.call('GET', `${RAG}/stats`)).document_count, 5);
      },
    },
  ),
  {
    name: 'an uploaded file is shown as its dataset would cut it',
    method: 'POST',
    path: `${DATABASES}/first_db/preview`,
    body: () => ({ dataset_id: 'docs', file_hash: hash, data_processing_strategy: 'texts' }),
    json: (body) => {
      assert.deepEqual([body.filename, body.total_chunks, body.parser_used], ['Volcano.md', 2, 'MarkdownParser']);
      assert.equal(body.original_text, (DOCUMENTS['Volcano.md'] as string).trimEnd());
      assert.ok(body.chunks[0].metadata.extractors.headings);
    },
  },
  preview(
    'a long file is shown in part, and counted in whole',
    { file_content: base64('word '.repeat(100_000)), filename: 'long.txt', chunk_size: 200, chunk_overlap: 0 },
    {
      json: (body) => {
        assert.ok(body.total_chunks > 2000, String(body.total_chunks));
        assert.equal(body.chunks.length, 200);
        assert.equal(body.original_text.length, body.chunks[199].end_position);
        assert.match(body.warnings.at(-1), /first 200 of \d+ chunks/);
      },
    },
  ),
  preview('no file', {}, { status: 400, contains: ['file_content'] }),
  preview('an unknown dataset', { dataset_id: 'nope', file_hash: 'a' }, { status: 404, contains: ['nope'] }),
  preview('an unknown file', { dataset_id: 'docs', file_hash: 'a' }, { status: 404 }),
  preview(
    'an unknown processing strategy',
    { file_content: base64('x'), filename: 'x.txt', data_processing_strategy: 'nope' },
    { status: 404, contains: ['texts'] },
  ),
  preview(
    'an overlap that is no smaller than the size',
    { file_content: base64('x'), filename: 'x.txt', chunk_size: 10, chunk_overlap: 10 },
    { status: 400, contains: ['chunk_overlap'] },
  ),
  preview(
    'a file that cannot be read',
    { file_content: Buffer.from([0, 1, 2, 0xff, 0, 0]).toString('base64'), filename: 'x.bin' },
    { status: 422, contains: ['x.bin'] },
  ),
  {
    name: 'a preview for an unknown database',
    method: 'POST',
    path: `${DATABASES}/nope/preview`,
    body: { file_content: base64('x') },
    status: 404,
  },
];

const VERSIONS: Scenario[] = [
  {
    name: 'a file that comes again with other content answers alone, with what is known of it',
    path: '/v1/projects/ns/versions/rag/stats',
    json: async () => {
      const docs = '/v1/projects/ns/versions/datasets/docs';
      const ask = async (query: string): Promise<Result[]> =>
        (await stage.call('POST', '/v1/projects/ns/versions/rag/query', { query })).results;
      await stage.take(docs, {
        'price.txt': 'The old price is ten.',
        'цена.txt': Buffer.from([0xcd, 0xee, 0xe2, 0xe0, 0xff, 0x20, 0xf6, 0xe5, 0xed, 0xe0]),
      });
      await stage.take(docs, { 'price.txt': 'The new price is twelve.' });
      const results = await ask('price');
      assert.deepEqual(results.map(({ content }) => content).sort(), ['The new price is twelve.', 'Новая цена']);
      const [cyrillic, latin] = ['цена.txt', 'price.txt'].map(
        (name) => results.find(({ metadata }) => metadata.file_name === name)!.metadata,
      );
      assert.deepEqual([latin!.file_version, latin!.encoding, latin!.encoding_confidence], [2, 'utf-8', undefined]);
      assert.equal(cyrillic!.encoding, 'windows-1251');
      assert.ok((cyrillic!.encoding_confidence as number) > 0.5);
    },
  },
];

scenarios<Runtime>(
  'retrieval over the core API',
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
  [...QUERIES, ...INSPECTION, ...PREVIEWS, ...VERSIONS],
);
