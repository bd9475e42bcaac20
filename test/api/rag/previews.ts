import assert from 'node:assert/strict';
import { DATABASES, P, RAG, stage } from '../../support/rag-stage.js';
import { DOCUMENTS } from '../../support/retrieval-project.js';
import type { Scenario } from '../../support/scenario.js';

const preview = (name: string, body: object, more: Omit<Scenario, 'name' | 'path' | 'body'>): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/projects/ns/p/rag/databases/first_db/preview',
  body,
  ...more,
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
let hash = '';

/** Files as a strategy would cut them. */
export const PREVIEWS: Scenario[] = [
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
