import assert from 'node:assert/strict';
import { hashOf } from '../../support/dataset-stage.js';
import { FIVE, found, P, stage } from '../../support/datasets-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** Tasks that take the files in. */
export const PROCESSING: Scenario[] = [
  {
    name: '55 an unknown file',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'process', file_hash: '0'.repeat(64) },
    status: 404,
  },
  {
    name: '55 processing starts a task',
    method: 'POST',
    path: `${P}/docs/actions`,
    body: { action_type: 'process', parser_overrides: { '*': { chunk_size: 500 } } },
    json: async (body) => {
      found.taskId = body.task_id;
      assert.equal(body.task_uri, `http://localhost/v1/projects/ns/p/tasks/${found.taskId}`);
      const task = await stage.tasks.finished('ns', 'p', found.taskId, new AbortController().signal);
      assert.equal(task.state, 'SUCCESS', JSON.stringify(task));
      assert.equal(await stage.ingest.chunks('main_db', hashOf(FIVE)), 5);
    },
  },
  {
    name: '57 processing again skips everything',
    method: 'POST',
    path: `${P}/docs/actions/`,
    body: { action_type: 'ingest' },
    json: async (body) => {
      const task = await stage.tasks.finished('ns', 'p', body.task_id, new AbortController().signal);
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
      const result = task.result as any;
      assert.deepEqual([task.state, result.processed_files, result.skipped_files, result.stored_count], ['SUCCESS', 0, 5, 0]);
      assert.deepEqual([result.details[0][0], result.details[0][1].reason], [true, 'duplicate']);
      assert.equal(await stage.ingest.chunks('main_db', hashOf(FIVE)), 5);
    },
  },
  {
    name: '56 processing an empty dataset is done at once',
    method: 'POST',
    path: `${P}/empty/actions`,
    body: { action_type: 'process' },
    json: (body) => {
      const task = stage.tasks.get('ns', 'p', body.task_id);
      assert.equal(task.state, 'SUCCESS');
      const { message, ...result } = task.result as Record<string, unknown>;
      assert.deepEqual(result, { namespace: 'ns', project: 'p', dataset: 'empty', strategy: 'texts', files: [], total_files: 0 });
      assert.ok(message);
    },
  },
];
