import assert from 'node:assert/strict';
import { DATABASES, P, query, RAG, type Result, stage } from '../../support/rag-stage.js';
import { DOCUMENTS } from '../../support/retrieval-project.js';
import type { Scenario } from '../../support/scenario.js';

/** What is in a database, and whether it is healthy. */
export const INSPECTION: Scenario[] = [
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
