import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { datasetEndpoints } from '../../gateway/core/datasets.js';
import { taskEndpoints } from '../../gateway/core/tasks.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { type DatasetStage, formOf, hashOf, openDatasetStage, PROJECT, writeProject } from '../support/dataset-stage.js';
import { type Scenario, scenarios } from '../support/scenario.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-tasks-'));
const P = '/v1/projects/ns/p';
const SLOW = Array.from({ length: 2_000 }, (_, at) => `line ${at}`).join('\n');
writeProject(dataDir, 'ns', 'p', PROJECT);
writeProject(dataDir, 'ns', 'q', PROJECT);
let stage: DatasetStage;
let id = '';

const upload = (dataset: string, name: string, content: string): Scenario => ({
  name: `uploads ${name} to ${dataset}`,
  method: 'POST',
  path: `${P}/datasets/${dataset}/data`,
  ...formOf([['file', name, content]]),
});
const processing = (dataset: string, name: string, prepare?: () => void): Scenario => ({
  name,
  method: 'POST',
  path: () => {
    prepare?.();
    return `${P}/datasets/${dataset}/actions`;
  },
  body: { action_type: 'process' },
  json: (body) => {
    id = body.task_id;
  },
});
const task = (name: string, rest: Partial<Scenario>): Scenario => ({ name, path: () => `${P}/tasks/${id}`, ...rest });

/** The task cases of the acceptance list, on a real queue with a small ingestion. */
const TABLE: Scenario[] = [
  { name: 'an id that no task can have', path: `${P}/tasks/${'t'.repeat(5_000)}`, status: 404, contains: ['Task not found'] },
  {
    name: 'an id that no task can have cannot be cancelled',
    method: 'DELETE',
    path: `${P}/tasks/${'t'.repeat(5_000)}`,
    status: 404,
    contains: ['only group tasks'],
  },
  { name: 'an id of many bytes', path: `${P}/tasks/${'%E2%82%AC'.repeat(700)}`, status: 404, contains: ['Task not found'] },
  { name: 'an unknown task', path: `${P}/tasks/none`, status: 404, contains: ['Task not found'] },
  {
    name: '62 an unknown task cannot be cancelled',
    method: 'DELETE',
    path: `${P}/tasks/none`,
    status: 404,
    contains: ['only group tasks'],
  },
  upload('docs', 'good.txt', 'one\ntwo'),
  upload('docs', 'broken.pdf', '%broken'),
  upload('docs', 'empty.txt', ''),
  processing('docs', '58 processing three files, two of them bad'),
  task('58 the bad files fail with their reasons, the good one is stored', {
    headers: {},
    path: () => `${P}/tasks/${id}`,
    json: async () => {
      const body = await stage.tasks.finished('ns', 'p', id, new AbortController().signal);
      assert.deepEqual([body.state, body.error], ['FAILURE', '2 of 3 tasks failed']);
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
      const { details, ...counts } = body.result as any;
      assert.deepEqual(counts, { processed_files: 1, failed_files: 2, skipped_files: 0, stored_count: 2, skipped_count: 0 });
      assert.deepEqual(
        details.map(([ok, info]: [boolean, { filename: string; error: string | null }]) => [ok, info.filename, info.error]),
        [
          [true, 'good.txt', null],
          [false, 'broken.pdf', 'the file is damaged'],
          [false, 'empty.txt', 'the file is empty'],
        ],
      );
      const [, info] = details[0];
      assert.deepEqual(
        [info.file_hash, info.status, info.parser, info.extractors, info.chunks, info.chunk_size, info.embedder],
        [hashOf('one\ntwo'), 'success', 'TextParser', ['HeadingExtractor'], 2, 1000, 'LexicalEmbedder'],
      );
      assert.deepEqual(info.result.parsers_used, ['TextParser']);
      assert.match(body.traceback!, /broken\.pdf: the file is damaged/);
    },
  }),
  task('61 the final state is what every later poll sees', {
    json: (body) => {
      assert.deepEqual([body.task_id, body.state, body.cancelled, body.meta.current, body.meta.total], [id, 'FAILURE', false, 3, 3]);
      assert.deepEqual(
        body.meta.files.map(({ state }: { state: string }) => state),
        ['success', 'failure', 'failure'],
      );
    },
  }),
  {
    name: 'a file of a task is a task of its own',
    path: () => `${P}/tasks/${id}.1`,
    json: (body) => assert.equal(body.error, 'the file is damaged'),
  },
  { name: '62 a file of a task cannot be cancelled', method: 'DELETE', path: () => `${P}/tasks/${id}.1`, status: 404 },
  { name: 'a task of another project', path: () => `/v1/projects/ns/q/tasks/${id}`, status: 404 },
  { name: '62 a task of another project cannot be cancelled', method: 'DELETE', path: () => `/v1/projects/ns/q/tasks/${id}`, status: 404 },
  task('62 a finished task is not cancelled', {
    method: 'DELETE',
    json: (body) => {
      assert.deepEqual([body.cancelled, body.already_completed, body.already_cancelled], [false, true, false]);
      assert.equal(body.message, 'Task already failure');
    },
  }),
  upload('twin', 'quick.txt', 'quick'),
  upload('twin', 'slow.txt', SLOW),
  upload('twin', 'later.txt', 'later'),
  processing('twin', '62 processing slowly, one file at a time', () => {
    stage.ingest.chunkMs = 2;
  }),
  {
    name: 'lists a task that runs, and none of another project',
    path: `${P}/tasks`,
    json: ({ tasks }) => {
      const { created_at, message, done, state, ...rest } = tasks.at(-1);
      assert.deepEqual(rest, { task_id: id, kind: 'dataset', total: 3, can_cancel: true });
      assert.ok(!Number.isNaN(Date.parse(created_at)) && message === `${done} of 3 done` && /PENDING|STARTED/.test(state));
      assert.deepEqual(stage.tasks.open('ns', 'q'), []);
    },
  },
  task('61 a running task says how far it is', {
    path: () => `${P}/tasks/${id}`,
    headers: {},
    json: async () => {
      while ((await stage.ingest.chunks('main_db', hashOf(SLOW))) < 5) await sleep(2);
      const body = stage.tasks.get('ns', 'p', id);
      assert.deepEqual([body.state, body.result, body.error], ['STARTED', null, null]);
      assert.deepEqual([body.meta!.current, body.meta!.total, body.meta!.progress], [1, 3, 33]);
      assert.ok(Number(body.meta!.files_per_second) > 0 && Number(body.meta!.eta_seconds) > 0);
    },
  }),
  task('62 cancelling stops it and takes back what it has stored', {
    method: 'DELETE',
    json: async (body) => {
      assert.deepEqual([body.cancelled, body.already_cancelled, body.already_completed], [true, false, false]);
      assert.deepEqual([body.pending_tasks_cancelled, body.running_tasks_at_cancel], [1, 1]);
      assert.deepEqual([body.files_reverted, body.files_failed_to_revert, body.errors], [2, 0, null]);
      assert.equal(body.message, 'Task cancelled and 2 file(s) reverted');
      for (const content of ['quick', SLOW, 'later']) assert.equal(await stage.ingest.chunks('main_db', hashOf(content)), 0);
      // Files that the task had nothing to do with stay.
      assert.equal(await stage.ingest.chunks('main_db', hashOf('one\ntwo')), 2);
    },
  }),
  task('62 cancelling again changes nothing', {
    method: 'DELETE',
    json: (body) => assert.deepEqual([body.cancelled, body.already_cancelled, body.files_reverted], [true, true, 2]),
  }),
  task('62 a cancelled task stays so', { json: (body) => assert.deepEqual([body.state, body.cancelled], ['REVOKED', true]) }),
  processing('twin', 'processing once more', () => {
    stage.ingest.locked.add('main_db');
  }),
  task('62 what cannot be taken back is told, and the cancellation stands', {
    method: 'DELETE',
    path: () => `${P}/tasks/${id}`,
    headers: {},
    json: async (body) => {
      assert.equal(body.cancelled, true);
      assert.ok(body.files_failed_to_revert >= 0);
      stage.ingest.locked.clear();
    },
  }),
  processing('docs', 'processing while the embedder is down', () => {
    stage.ingest.isDown = true;
    stage.ingest.chunkMs = 0;
  }),
  task('a file is tried again, then fails with the reason', {
    headers: {},
    json: async () => {
      const body = await stage.tasks.finished('ns', 'p', id, new AbortController().signal);
      assert.equal(body.error, '3 of 3 tasks failed');
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
      const [first] = (body.result as any).details;
      assert.deepEqual([first.success, first.attempts, first.error], [false, 5, 'The embedder does not answer.']);
      assert.deepEqual(first.details, { status: 'failed', filename: 'good.txt', error: 'The embedder does not answer.' });
      stage.ingest.isDown = false;
    },
  }),
];

scenarios(
  'tasks',
  {
    endpoints: [...datasetEndpoints, ...taskEndpoints],
    context: async () => {
      stage = await openDatasetStage({ dataDir, tasks: { concurrency: 1, backoff: { firstMs: 1, factor: 1, mostMs: 1 } } });
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  TABLE,
);
