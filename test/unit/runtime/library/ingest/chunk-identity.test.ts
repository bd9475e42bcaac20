import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunkOf, sha256 } from '../../../../../runtime/library/ingest/chunk-identity.js';
import { hashOf } from '../../../../support/dataset-stage.js';

const file = { path: '/nowhere/raw', name: 'a.md', hash: hashOf('the file'), mimeType: 'text/markdown', sizeBytes: 8 };
const origin = { file, dataset: 'docs', time: new Date('2026-03-04T05:06:07.008Z') };
const passage = { text: ' Some words. ', index: 3, start: 10, end: 23, headings: [], metadata: { kind: 'x', id: 'stolen' } };

describe('identity of chunks', () => {
  it('is made of the file, the place and the trimmed text', () => {
    const { id, documentHash, text, metadata } = chunkOf(passage, origin);
    const hash = hashOf('Some words.');
    assert.equal(sha256('Some words.'), hash);
    assert.equal(id, `doc_${file.hash.slice(0, 12)}_chunk_3_${hash.slice(0, 8)}`);
    assert.deepEqual([documentHash, text], [file.hash, passage.text]);
    assert.deepEqual(metadata, {
      kind: 'x',
      id,
      chunk_id: id,
      chunk_hash: hash,
      content_hash: hash,
      document_hash: file.hash,
      file_hash: file.hash,
      source_hash: hashOf('a.md'),
      dataset: 'docs',
      start_position: 10,
      end_position: 23,
      processing_timestamp: '2026-03-04T05:06:07.008Z',
      ingestion_timestamp: '2026-03-04T05:06:07.008Z',
      processing_date: '2026-03-04',
      processing_time: '05:06:07',
    });
  });

  it('does not depend on time, dataset, name or metadata', () => {
    const { id } = chunkOf({ ...passage, metadata: {} }, { file: { ...file, name: 'b.md' }, dataset: 'other', time: new Date() });
    assert.equal(id, chunkOf(passage, origin).id);
    for (const other of [{ index: 4 }, { text: 'Other words.' }]) assert.notEqual(chunkOf({ ...passage, ...other }, origin).id, id);
    assert.notEqual(chunkOf(passage, { ...origin, file: { ...file, hash: hashOf('another') } }).id, id);
  });

  it('says the page and the headings where there are some', () => {
    const { metadata } = chunkOf({ ...passage, page: 2, headings: ['A', 'B'] }, origin);
    assert.deepEqual([metadata.page, metadata.headings], [2, ['A', 'B']]);
  });
});
