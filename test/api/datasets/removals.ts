import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from '../../support/dataset-stage.js';
import { dataDir, FIVE, folder, found, HELLO, P, stage, upload } from '../../support/datasets-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** Chunks, files and datasets that go, and what is torn or gone already. */
export const REMOVALS: Scenario[] = [
  {
    name: '63 cleanup removes the chunks of a file',
    method: 'POST',
    path: `${P}/docs/cleanup/${hashOf(FIVE)}`,
    json: (body) => {
      assert.deepEqual([body.deleted_count, body.file_hash, body.errors], [5, hashOf(FIVE), null]);
      assert.equal(body.message, `Deleted 5 chunk(s) for file ${hashOf(FIVE).slice(0, 12)}...`);
    },
  },
  {
    name: '63 cleanup again removes nothing',
    method: 'POST',
    path: `${P}/docs/cleanup/${hashOf(FIVE)}`,
    json: (body) => assert.equal(body.deleted_count, 0),
  },
  { name: '63 cleanup of an unknown dataset', method: 'POST', path: `${P}/none/cleanup/${HELLO}`, status: 404 },
  {
    name: '63 cleanup when the store fails hides why',
    method: 'POST',
    path: `${P}/docs/cleanup/${HELLO}`,
    headers: () => {
      stage.ingest.locked.add('main_db');
      return {};
    },
    status: 500,
    contains: ['Cleanup failed: '],
    lacks: ['somebody'],
    json: () => {
      stage.ingest.locked.clear();
    },
  },
  { name: 'file chunks need a file', method: 'POST', path: `${P}/docs/actions`, body: { action_type: 'delete_file_chunks' }, status: 400 },
  {
    name: 'file chunks are removed, and the file stays',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'delete_file_chunks', file_hash: HELLO },
    json: (body) => assert.deepEqual([body.file_hash, body.deleted_chunks], [HELLO, 1]),
  },
  {
    name: 'all chunks of a dataset are removed',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'delete_dataset_chunks' },
    json: (body) => assert.deepEqual([body.total_deleted_chunks, body.total_files_cleared, body.total_files_failed], [3, 5, 0]),
  },
  {
    name: 'the older route processes and waits',
    method: 'POST',
    path: `${P}/docs/process`,
    json: (body) => {
      assert.deepEqual([body.processed_files, body.skipped_files, body.failed_files], [5, 0, 0]);
      assert.deepEqual([body.strategy, body.database, body.details.length], ['texts', 'main_db', 5]);
      assert.deepEqual([body.details[0].hash, body.details[0].status, body.details[0].embedder], [HELLO, 'processed', 'LexicalEmbedder']);
    },
  },
  {
    name: 'the older route answers at once when asked to',
    method: 'POST',
    path: `${P}/docs/process?async_processing=true`,
    json: async (body) => {
      assert.equal(body.details[0].status, 'pending');
      assert.equal((await stage.tasks.finished('ns', 'p', body.task_id, new AbortController().signal)).state, 'SUCCESS');
      found.taskId = body.task_id;
    },
  },
  { name: 'the older cancel needs a task', method: 'POST', path: `${P}/docs/process/cancel`, status: 404 },
  {
    name: 'the older cancel refuses what is finished',
    method: 'POST',
    path: () => `${P}/docs/process/cancel?task_id=${found.taskId}`,
    status: 400,
  },
  { name: '54 an unknown file', method: 'DELETE', path: `${P}/docs/data/${'0'.repeat(64)}`, status: 404 },
  {
    name: '54 bytes that another dataset needs stay',
    method: 'DELETE',
    path: `${P}/docs/data/${HELLO}?remove_from_disk=true`,
    status: 400,
    contains: ['twin'],
  },
  {
    name: '54 a file leaves the list; its bytes stay unless asked',
    method: 'DELETE',
    path: `${P}/docs/data/${HELLO}`,
    json: (body) => {
      assert.deepEqual(body, { file_hash: HELLO, deleted_chunks: 0 });
      assert.ok(existsSync(folder('docs', 'raw', HELLO)));
      assert.ok(!existsSync(folder('docs', 'meta', `${HELLO}.json`)));
    },
  },
  {
    name: '54 a file leaves the disk when asked, with its chunks',
    method: 'DELETE',
    path: `${P}/docs/data/${hashOf(FIVE)}?remove_from_disk=true`,
    json: (body) => {
      assert.deepEqual(body, { file_hash: hashOf(FIVE), deleted_chunks: 5 });
      assert.ok(!existsSync(folder('docs', 'raw', hashOf(FIVE))));
      assert.ok(!readdirSync(folder('docs', 'index/by_name')).some((name) => name.startsWith('c_')));
      writeFileSync(folder('docs', 'meta', `${'1'.repeat(64)}.json`), '{"torn');
    },
  },
  {
    name: '49 a torn entry does not fail the list',
    path: P,
    json: ({ datasets }) => assert.deepEqual(datasets[0].details.total_files, 3),
  },
  {
    name: 'bytes that are gone are named before anything is queued',
    method: 'POST',
    path: () => {
      rmSync(folder('docs', 'raw', hashOf('bulk one')));
      return `${P}/docs/actions`;
    },
    body: { action_type: 'process' },
    status: 404,
    contains: ['one.txt'],
  },
  { name: 'an unknown dataset cannot be removed', method: 'DELETE', path: `${P}/none`, status: 404 },
  {
    name: 'a removed dataset keeps its files out of the way',
    method: 'DELETE',
    path: `${P}/docs`,
    json: ({ dataset }) => {
      assert.equal(dataset.name, 'docs');
      assert.ok(!existsSync(folder('docs')));
      assert.equal(readdirSync(join(dataDir, 'projects/ns/p/lf_data/deleted')).length, 1);
    },
  },
  {
    name: 'files of older projects are found where these kept them',
    path: '/v1/projects/ns/older/datasets',
    json: async ({ datasets: [docs] }) => {
      assert.deepEqual(docs.files, [hashOf('older'), '0'.repeat(64)]);
      assert.equal(docs.details.total_files, 1);
      const id = await stage.datasets.processing.start('ns', 'older', 'docs', {});
      assert.equal((await stage.tasks.finished('ns', 'older', id, new AbortController().signal)).state, 'SUCCESS');
    },
  },
  {
    name: 'of folders that lead upwards only those that are left',
    ...upload('twin', 'a/../../b/./kept/d.txt', 'a text of its own for this folder'),
    json: ({ hash }) => assert.equal(JSON.parse(readFileSync(folder('twin', 'meta', `${hash}.json`), 'utf8')).original_folder, 'b/kept'),
  },
];
