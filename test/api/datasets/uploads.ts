import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { formOf, hashOf } from '../../support/dataset-stage.js';
import { FIVE, folder, HELLO, overrides, P, stage, upload } from '../../support/datasets-stage.js';
import type { Scenario } from '../../support/scenario.js';

let listed: unknown;
/** Uploads, lists of files, and settings of one upload. */
export const UPLOADS: Scenario[] = [
  {
    name: '51 an upload is stored, and not processed',
    ...upload('docs', 'test.pdf', 'hello world'),
    json: (body) => {
      assert.deepEqual(body, { filename: 'test.pdf', hash: HELLO, processed: false, skipped: false, task_id: null, status: 'uploaded' });
      assert.equal(readFileSync(folder('docs', 'raw', HELLO), 'utf8'), 'hello world');
      const meta = JSON.parse(readFileSync(folder('docs', 'meta', `${HELLO}.json`), 'utf8'));
      assert.equal(meta.mime_type, 'application/pdf');
      assert.equal(meta.size, 11);
      const [link] = readdirSync(folder('docs', 'index/by_name'));
      assert.match(link!, /^test_\d+(\.\d+)?\.pdf$/);
      assert.equal(meta.resolved_file_name, link);
      assert.equal(readlinkSync(folder('docs', 'index/by_name', link!)), `../../raw/${HELLO}`);
    },
  },
  {
    name: '49 the list has both forms of details',
    path: `${P}/`,
    json: (body) => {
      const { total, datasets } = body;
      listed = body;
      assert.equal(total, 5);
      assert.deepEqual(
        datasets.map(({ name }: { name: string }) => name),
        ['docs', 'twin', 'empty', 'eager', 'fresh'],
      );
      const [docs] = datasets;
      assert.deepEqual(docs.files, [HELLO]);
      assert.deepEqual([docs.details.total_files, docs.details.total_size_bytes], [1, 11]);
      const { timestamp, ...detail } = docs.details.file_details[0];
      assert.deepEqual(detail, { hash: HELLO, original_filename: 'test.pdf', size: 11 });
      assert.ok(Math.abs(timestamp - Date.now() / 1000) < 60);
      assert.equal(docs.details.files_metadata[0].original_file_name, 'test.pdf');
    },
  },
  {
    name: '84 without the slash behind the collection the list is the same',
    path: P,
    json: (body) => assert.deepEqual(body, listed),
  },
  {
    name: '84 an upload with a slash behind is no redirect',
    ...upload('docs', 'again.pdf', 'hello world'),
    path: `${P}/docs/data/`,
    json: (body) => assert.deepEqual([body.hash, body.skipped], [HELLO, true]),
  },
  {
    name: '84 a new dataset with a slash behind is checked as without',
    method: 'POST',
    path: `${P}/`,
    body: { name: 'docs', data_processing_strategy: 'texts', database: 'main_db' },
    status: 400,
    contains: ['already exists'],
  },
  {
    name: '49 no details when they are not wanted',
    path: `${P}?include_extra_details=false`,
    json: ({ datasets }) => assert.ok(datasets.every((one: object) => !('details' in one))),
  },
  {
    name: '52 the same bytes under another name are skipped',
    ...upload('docs', 'again.pdf', 'hello world'),
    json: (body) => {
      assert.deepEqual([body.hash, body.skipped, body.processed, body.status], [HELLO, true, false, 'skipped']);
      assert.equal(readdirSync(folder('docs', 'index/by_name')).length, 1);
    },
  },
  {
    name: '52 the same bytes in another dataset are stored',
    ...upload('twin', 'test', 'hello world'),
    json: (body) => {
      assert.equal(body.skipped, false);
      assert.match(readdirSync(folder('twin', 'index/by_name'))[0]!, /^test_\d+(\.\d+)?$/);
    },
  },
  {
    name: '53 of a path only the last part is kept',
    ...upload('docs', 'a/b/c.txt', FIVE),
    json: (body) => {
      assert.equal(body.filename, 'c.txt');
      assert.ok(readdirSync(folder('docs', 'index/by_name')).some((name) => name.startsWith('c_')));
    },
  },
  { name: '51 an unknown dataset', ...upload('none', 'x', 'x'), status: 404, contains: ['none', 'docs'] },
  { name: 'an upload without a file', method: 'POST', path: `${P}/docs/data`, ...formOf([], { parser_overrides: '{}' }), status: 422 },
  { name: 'an upload as JSON', method: 'POST', path: `${P}/docs/data`, body: {}, status: 415 },
  {
    name: 'two files where one is taken',
    method: 'POST',
    path: `${P}/docs/data`,
    ...formOf([
      ['file', 'a', 'a'],
      ['file', 'b', 'b'],
    ]),
    status: 400,
  },
  overrides('not JSON', '{'),
  overrides('too long', JSON.stringify({ '*': { note: 'x'.repeat(10_001) } })),
  overrides('chunk_size 0', '{"*":{"chunk_size":0}}'),
  overrides('overlap as large as size', '{"TextParser":{"chunk_size":10,"chunk_overlap":10}}'),
  overrides('size below the overlap of the strategy', '{"*":{"chunk_size":50}}'),
  overrides('an unknown parser', '{"NoParser":{}}'),
  overrides('an array', '[]'),
  overrides('a good one', '{"*":{"chunk_size":500}}', 200),
  {
    name: '60 bulk upload',
    method: 'POST',
    path: `${P}/docs/data/bulk`,
    ...formOf([
      ['files', 'one.txt', 'bulk one'],
      ['files[]', 'two.txt', 'bulk two'],
      ['files', 'same.txt', 'bulk one'],
    ]),
    json: (body) => {
      assert.deepEqual([body.uploaded, body.skipped, body.failed, body.task_id, body.status], [2, 1, 0, null, 'uploaded']);
    },
  },
  {
    name: '60 bulk upload of too many files',
    method: 'POST',
    path: `${P}/docs/data/bulk`,
    ...formOf(Array.from({ length: 101 }, (_, at) => ['files', `${at}`, `${at}`] as const)),
    status: 400,
    contains: ['100 files'],
  },
  {
    name: 'an eager dataset processes what it stores',
    ...upload('eager', 'e.txt', 'line', { parser_overrides: '{"__all__":{"chunk_size":500}}' }),
    json: async (body) => {
      assert.equal(body.status, 'processing');
      const task = await stage.tasks.finished('ns', 'p', body.task_id, new AbortController().signal);
      assert.equal(task.state, 'SUCCESS');
      assert.deepEqual(stage.ingest.requests.at(-1)!.overrides, { '*': { chunk_size: 500 } });
      assert.equal(await stage.ingest.chunks('other_db', hashOf('line')), 1);
    },
  },
  {
    name: 'an eager dataset can be told not to',
    ...upload('eager', 'f.txt', 'another', {}, '?auto_process=false'),
    json: (body) => assert.equal(body.status, 'uploaded'),
  },
  { name: '55 an unknown action', method: 'POST', path: `${P}/docs/actions`, body: { action_type: 'burn' }, status: 422 },
  { name: '55 an unknown dataset', method: 'POST', path: `${P}/none/actions`, body: { action_type: 'process' }, status: 404 },
];
