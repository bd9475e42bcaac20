import type { CancelReply } from '../../schemas/generated/core/tasks.js';
import { log } from '../base/log.js';
import type { Cleanup, TaskRecord } from '../store/store.js';
import type { ActiveTask } from './active.js';
import type { TaskKind } from './contract.js';
import type { Journal } from './journal.js';

/** Waits for the running items of a cancelled task, then takes back what its items have done, one by one; never rejects. When the queue closes it stops. */
export async function revertItems(task: ActiveTask, kind: TaskKind | undefined, journal: Journal): Promise<void> {
  await Promise.all([...task.running.values()].map(({ ended }) => ended));
  const cleanup: Cleanup = { reverted: 0, failed: 0, errors: [] };
  for (const [index, { outcome, touched, key, name }] of task.items.entries()) {
    const isDone = outcome?.status === 'success';
    if (journal.closing) return;
    if (task.erased || !(isDone || touched)) continue;
    try {
      if (!kind) throw new Error(`this version has no tasks of kind ${task.record.kind}`);
      const amount = await kind.revert(task.item(index));
      if (isDone || amount > 0) cleanup.reverted += 1;
    } catch (cause) {
      log('warn', 'a file of a cancelled task could not be reverted', { task: task.id, file: name, cause });
      cleanup.failed += 1;
      cleanup.errors.push({ file_hash: key, error: (cause as Error).message });
    }
  }
  if (task.erased) return;
  const record: TaskRecord = { ...task.record, phase: 'finished', finishedMs: Date.now() };
  record.cancelled = { ...record.cancelled!, cleanup };
  if (await journal.insist((batch) => batch.put('tasks', task.key, record))) Object.assign(task.record, record);
}

/** The answer to a cancellation that did something. */
export function cancelledReply(id: string, record: TaskRecord): CancelReply {
  const { pending, running, cleanup } = record.cancelled!;
  return { ...reply(id, messageOf(cleanup), cleanup), cancelled: true, pending_tasks_cancelled: pending, running_tasks_at_cancel: running };
}

/** The answer to a further cancellation. `now` counts what is not done yet. */
export function alreadyCancelledReply(id: string, record: TaskRecord, now: { pending: number; running: number }): CancelReply {
  return {
    ...reply(id, 'Task already cancelled', record.cancelled!.cleanup),
    cancelled: true,
    pending_tasks_cancelled: now.pending,
    running_tasks_at_cancel: now.running,
    already_cancelled: true,
  };
}

/** The answer to a cancellation that came too late. */
export function alreadyCompletedReply(id: string, outcome: 'success' | 'failure'): CancelReply {
  return { ...reply(id, `Task already ${outcome}`, undefined), already_completed: true };
}

function reply(id: string, message: string, cleanup: Cleanup | undefined): CancelReply {
  return {
    message,
    task_id: id,
    cancelled: false,
    pending_tasks_cancelled: 0,
    running_tasks_at_cancel: 0,
    files_reverted: cleanup?.reverted ?? 0,
    files_failed_to_revert: cleanup?.failed ?? 0,
    errors: cleanup && cleanup.errors.length > 0 ? cleanup.errors : null,
    already_completed: false,
    already_cancelled: false,
  };
}

function messageOf(cleanup: Cleanup | undefined): string {
  if (!cleanup) return 'Task cancelled; files that were running are reverted when they have stopped';
  const { reverted, failed } = cleanup;
  if (failed > 0) return `Task cancelled with cleanup issues: ${reverted} reverted, ${failed} failed`;
  return reverted > 0 ? `Task cancelled and ${reverted} file(s) reverted` : 'Task cancelled (no files to revert)';
}
