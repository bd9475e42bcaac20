import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import { MAX_ATTEMPTS, MAX_INTERRUPTIONS } from '../../../../runtime/tasks/limits.js';
import { Tasks, type TasksOptions } from '../../../../runtime/tasks/tasks.js';
import type { Task } from '../../../../schemas/generated/core/tasks.js';
import { ScriptedKind } from './scripted-kind.js';

setLogLevel('error');
const QUICK = { firstMs: 1, factor: 1, mostMs: 1 };
const NEVER = new AbortController().signal;
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Stage {
  folder: string;
  store: Store;
  kind: ScriptedKind;
  tasks: Tasks;
}

async function open(options: TasksOptions = {}, folder = mkdtempSync(join(tmpdir(), 'quern-tasks-'))): Promise<Stage> {
  folders.push(folder);
  const store = await openStore(folder);
  const kind = new ScriptedKind();
  return { folder, store, kind, tasks: new Tasks(store, { scripted: kind }, { backoff: QUICK, ...options }) };
}

async function close({ tasks, store }: Stage): Promise<void> {
  await tasks.close();
  await store.close();
}

const spec = (names: string[], more: object = {}) => ({
  namespace: 'ns',
  project: 'p',
  kind: 'scripted',
  items: names.map((name, index) => ({ key: `hash-${index}`, name, input: {} })),
  ...more,
});

async function whole(stage: Stage, names: string[], more: object = {}): Promise<Task> {
  return stage.tasks.finished('ns', 'p', await stage.tasks.start(spec(names, more)), NEVER);
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
const resultOf = (task: Task): any => task.result;

describe('tasks', () => {
  it('ends in SUCCESS with a pair for each file, also when all were duplicates', async () => {
    const stage = await open();
    const task = await whole(stage, ['ok', 'dup']);
    assert.equal(task.state, 'SUCCESS');
    assert.deepEqual([task.error, task.traceback, task.cancelled], [null, null, false]);
    const { details, ...counts } = resultOf(task);
    assert.deepEqual(counts, { processed_files: 1, failed_files: 0, skipped_files: 1, stored_count: 2, skipped_count: 3 });
    assert.deepEqual(details[0][0], true);
    assert.equal(details[0][1].file_hash, 'hash-0');
    assert.deepEqual(details[1], [true, { filename: 'dup', reason: 'duplicate' }]);
    assert.equal((await whole(stage, ['dup'])).state, 'SUCCESS');
    await close(stage);
  });

  it('ends in FAILURE with the reason for each file, and hides what is inside', async () => {
    const stage = await open();
    setLogLevel('error');
    const task = await whole(stage, ['ok', 'bad', 'crash']);
    assert.equal(task.state, 'FAILURE');
    assert.equal(task.error, '2 of 3 tasks failed');
    assert.match(task.traceback!, /bad: it is protected by a password\ncrash: Something went wrong/);
    const { details } = resultOf(task);
    assert.equal(details[0][0], true);
    assert.deepEqual(details[1], [false, { filename: 'bad', error: 'it is protected by a password' }]);
    assert.equal(details[2].success, false);
    assert.equal(details[2].details.status, 'failed');
    assert.ok(!JSON.stringify(task).includes('secret'));
    await close(stage);
  });

  it('tries again what may pass, a bounded number of times, with a bounded number of writes', async () => {
    const stage = await open();
    assert.equal((await whole(stage, ['down:2'])).state, 'SUCCESS');
    stage.kind.ran.length = 0;
    const written = stage.store.counts.written;
    const task = await whole(stage, ['down']);
    assert.equal(task.state, 'FAILURE');
    assert.equal(stage.kind.ran.length, MAX_ATTEMPTS);
    assert.match(task.traceback!, /embedder does not answer/);
    // Task and item at the start, two for each attempt, the first and the final state of the task.
    assert.equal(stage.store.counts.written - written, 2 + 2 * MAX_ATTEMPTS + 2);
    await sleep(20);
    assert.equal(stage.kind.ran.length, MAX_ATTEMPTS);
    await close(stage);
  });

  it('says PENDING, STARTED and RETRY, and how far it is', async () => {
    const stage = await open({ concurrency: 1, backoff: { firstMs: 60_000, factor: 1, mostMs: 60_000 } });
    const running = await stage.tasks.start(spec(['wait', 'ok']));
    const waiting = await stage.tasks.start(spec(['ok']));
    while (stage.kind.running === 0) await sleep(1);
    const started = stage.tasks.get('ns', 'p', running);
    assert.equal(started.state, 'STARTED');
    assert.equal(started.result, null);
    assert.deepEqual([started.meta!.current, started.meta!.total, started.meta!.progress], [0, 2, 0]);
    assert.equal(started.meta!.message, 'Processing 0/2 files');
    assert.deepEqual(
      (started.meta!.files as { state: string }[]).map(({ state }) => state),
      ['processing', 'pending'],
    );
    assert.ok('eta_seconds' in started.meta! && 'files_per_second' in started.meta!);
    const pending = stage.tasks.get('ns', 'p', waiting);
    assert.deepEqual([pending.state, pending.meta, pending.result], ['PENDING', null, null]);
    assert.equal(stage.tasks.get('ns', 'p', `${running}.0`).state, 'STARTED');
    stage.kind.open();
    const single = await stage.tasks.start(spec(['down'], { group: false }));
    while (stage.tasks.get('ns', 'p', single).state !== 'RETRY') await sleep(1);
    await close(stage);
  });

  it('ends at once without items, and keeps the given result', async () => {
    const stage = await open();
    const id = await stage.tasks.start(spec([], { emptyResult: { total_files: 0 } }));
    const task = stage.tasks.get('ns', 'p', id);
    assert.deepEqual([task.state, task.result], ['SUCCESS', { total_files: 0 }]);
    await close(stage);
  });

  it('runs few items at a time, and never two with one lock', async () => {
    const stage = await open({ concurrency: 3 });
    await whole(
      stage,
      Array.from({ length: 20 }, () => 'ok'),
    );
    assert.equal(stage.kind.mostRunning, 3);
    stage.kind.mostRunning = 0;
    const same = spec(['ok', 'ok', 'ok']);
    for (const item of same.items) item.key = 'same';
    await stage.tasks.finished('ns', 'p', await stage.tasks.start(same), NEVER);
    assert.equal(stage.kind.mostRunning, 1);
    await close(stage);
  });

  it('hides a task from other projects', async () => {
    const stage = await open();
    const id = await stage.tasks.start(spec(['wait']));
    for (const [namespace, project] of [
      ['ns', 'other'],
      ['other', 'p'],
    ] as const) {
      assert.throws(() => stage.tasks.get(namespace, project, id), { kind: 'not_found' });
      await assert.rejects(stage.tasks.cancel(namespace, project, id), { kind: 'not_found' });
    }
    assert.throws(() => stage.tasks.get('ns', 'p', `${id}.7`), { kind: 'not_found' });
    await assert.rejects(stage.tasks.cancel('ns', 'p', `${id}.0`), { kind: 'not_found' });
    await close(stage);
  });

  it('cancels: waiting files never run, running ones stop, finished ones are taken back', async () => {
    const stage = await open({ concurrency: 1 });
    const id = await stage.tasks.start(spec(['ok', 'dup', 'stuck-revert', 'wait', 'ok', 'ok']));
    while (stage.kind.waiting === 0) await sleep(1);
    const reply = await stage.tasks.cancel('ns', 'p', id);
    assert.deepEqual([reply.cancelled, reply.pending_tasks_cancelled, reply.running_tasks_at_cancel], [true, 2, 1]);
    assert.deepEqual(stage.kind.reverted, ['ok', 'wait']);
    assert.deepEqual([reply.files_reverted, reply.files_failed_to_revert], [2, 1]);
    assert.deepEqual(reply.errors, [{ file_hash: 'hash-2', error: 'the database is gone' }]);
    assert.equal(reply.message, 'Task cancelled with cleanup issues: 2 reverted, 1 failed');
    const task = stage.tasks.get('ns', 'p', id);
    assert.deepEqual([task.state, task.cancelled], ['REVOKED', true]);
    const again = await stage.tasks.cancel('ns', 'p', id);
    assert.deepEqual([again.cancelled, again.already_cancelled, again.files_reverted], [true, true, 2]);
    assert.equal(stage.kind.ran.length, 4);
    await close(stage);
  });

  it('goes on with taking back after a crash, and leaves files of others alone', async () => {
    const stage = await open();
    const cancelled = { atMs: 2, pending: 1, running: 1 };
    await stage.store.write((batch) => {
      batch.put('tasks', ['ns', 'p', 'half'], {
        kind: 'scripted',
        group: true,
        phase: 'open',
        total: 4,
        shared: {},
        createdMs: 1,
        startedMs: 1,
        cancelled,
      });
      const item = { key: 'h', input: {}, attempts: 0, interruptions: 1 };
      const outcome = { stored: 1, skipped: 0, info: {} };
      batch.put('taskItems', ['half', 0], { ...item, name: 'done', state: 'done', outcome: { ...outcome, status: 'success' } });
      batch.put('taskItems', ['half', 1], { ...item, name: 'duplicate', state: 'done', outcome: { ...outcome, status: 'skipped' } });
      batch.put('taskItems', ['half', 2], { ...item, name: 'begun', state: 'running', touched: true });
      batch.put('taskItems', ['half', 3], { ...item, name: 'never', state: 'pending' });
    });
    await close(stage);
    const next = await open({}, stage.folder);
    const task = await next.tasks.finished('ns', 'p', 'half', NEVER);
    assert.equal(task.state, 'REVOKED');
    assert.deepEqual(next.kind.reverted, ['done', 'begun']);
    assert.equal(next.kind.ran.length, 0);
    assert.equal((await next.tasks.cancel('ns', 'p', 'half')).files_reverted, 2);
    await close(next);
  });

  it('does not cancel what is finished or no group', async () => {
    const stage = await open();
    const done = await whole(stage, ['ok']);
    const late = await stage.tasks.cancel('ns', 'p', done.task_id);
    assert.deepEqual([late.cancelled, late.already_completed, late.message], [false, true, 'Task already success']);
    const bad = await whole(stage, ['bad']);
    assert.equal((await stage.tasks.cancel('ns', 'p', bad.task_id)).message, 'Task already failure');
    const single = await stage.tasks.start(spec(['wait'], { group: false }));
    await assert.rejects(stage.tasks.cancel('ns', 'p', single), { kind: 'not_found', message: /only group tasks/ });
    await close(stage);
  });

  it('goes on after a stop where it was, and shows the same end to every later poll', async () => {
    const first = await open({ concurrency: 1 });
    const id = await first.tasks.start(spec(['ok', 'bad', 'wait', 'ok']));
    while (!first.kind.ran.includes('wait')) await sleep(1);
    await close(first);
    const second = await open({}, first.folder);
    second.kind.open();
    const task = await second.tasks.finished('ns', 'p', id, NEVER);
    assert.equal(task.state, 'FAILURE');
    assert.deepEqual([...second.kind.ran].sort(), ['ok', 'wait']);
    assert.deepEqual(second.tasks.get('ns', 'p', id), task);
    await close(second);
    const third = await open({}, first.folder);
    assert.deepEqual(third.tasks.get('ns', 'p', id), { ...task, meta: third.tasks.get('ns', 'p', id).meta });
    assert.deepEqual(third.tasks.get('ns', 'p', id).meta!.current, 4);
    assert.equal(third.kind.ran.length, 0);
    await close(third);
  });

  it('gives up on an item that ends the daemon again and again', async () => {
    const stage = await open();
    await stage.store.write((batch) => {
      batch.put('tasks', ['ns', 'p', 'killer'], {
        kind: 'scripted',
        group: true,
        phase: 'open',
        total: 1,
        shared: {},
        createdMs: 1,
        startedMs: 1,
      });
      const item = { key: 'h', name: 'ok', input: {}, state: 'running', attempts: 0, interruptions: MAX_INTERRUPTIONS } as const;
      batch.put('taskItems', ['killer', 0], item);
    });
    await close(stage);
    const next = await open({}, stage.folder);
    const task = await next.tasks.finished('ns', 'p', 'killer', NEVER);
    assert.equal(task.state, 'FAILURE');
    assert.match(task.traceback!, /ended 20 times/);
    assert.equal(next.kind.ran.length, 0);
    await close(next);
  });

  it('removes a task that was not stored whole, and finished ones over the cap', async () => {
    const stage = await open({ maxFinished: 2 });
    await stage.store.write((batch) => {
      batch.put('tasks', ['ns', 'p', 'half'], { kind: 'scripted', group: true, phase: 'preparing', total: 9, shared: {}, createdMs: 1 });
      batch.put('taskItems', ['half', 0], { key: 'h', name: 'ok', input: {}, state: 'pending', attempts: 0, interruptions: 0 });
    });
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) ids.push((await whole(stage, ['ok'])).task_id);
    while (stage.store.tasks.keys({ limit: 99 }).length > 3) await sleep(1);
    assert.throws(() => stage.tasks.get('ns', 'p', ids[0]!), { kind: 'not_found' });
    assert.equal(stage.tasks.get('ns', 'p', ids[3]!).state, 'SUCCESS');
    assert.throws(() => stage.tasks.get('ns', 'p', 'half'), { kind: 'not_found' });
    await close(stage);
    const next = await open({ maxFinished: 2 }, stage.folder);
    while (next.store.tasks.keys({ limit: 99 }).length > 2) await sleep(1);
    assert.equal(next.store.taskItems.keys({ limit: 99 }).length, 2);
    await close(next);
  });

  it('stores a task of many items in pieces', async () => {
    const stage = await open();
    const task = await whole(
      stage,
      Array.from({ length: 1_200 }, () => 'dup'),
    );
    assert.equal(resultOf(task).skipped_files, 1_200);
    assert.equal((task.meta!.files as unknown[]).length, 1_000);
    assert.equal(task.meta!.files_omitted, 200);
    await close(stage);
  });

  it('forgets everything of an erased project', async () => {
    const stage = await open({ concurrency: 1 });
    const done = await whole(stage, ['ok']);
    const id = await stage.tasks.start(spec(['wait', 'ok']));
    while (!stage.kind.ran.includes('wait')) await sleep(1);
    await stage.tasks.erase('ns', 'p');
    for (const gone of [id, done.task_id]) assert.throws(() => stage.tasks.get('ns', 'p', gone), { kind: 'not_found' });
    assert.equal(stage.store.taskItems.keys({ limit: 99 }).length, 0);
    assert.equal(stage.kind.running, 0);
    await close(stage);
  });
});
