import type { OpenTask, Task } from '../../schemas/generated/core/tasks.js';
import type { JsonObject } from '../base/json.js';
import type { ItemRecord, TaskKey, TaskRecord } from '../store/store.js';
import { type ActiveTask, paceOf } from './active.js';
import { MAX_LISTED_FILES } from './limits.js';
import { isSkipped } from './worker.js';

const CANCELLED = 'Cancelled before it was done.';

/** A task as clients see it. `live` is there while it is open. */
export function taskView(key: TaskKey, record: TaskRecord, items: readonly ItemRecord[], live?: ActiveTask): Task {
  if (!record.group) return itemView(key[2], record, items[0]);
  const state = groupState(record, items);
  const failed = items.filter(isFailed);
  const isFinal = state === 'SUCCESS' || state === 'FAILURE';
  return {
    task_id: key[2],
    state,
    meta: state === 'PENDING' ? null : progressMeta(key[2], record, items, live),
    result: isFinal ? (items.length === 0 && record.result ? record.result : groupResult(items)) : null,
    error: state === 'FAILURE' ? `${failed.length} of ${items.length} tasks failed` : null,
    traceback: state === 'FAILURE' ? failed.map((item) => `${item.name}: ${reasonOf(item)}`).join('\n') : null,
    cancelled: record.cancelled !== undefined,
  };
}

/** An open task in a list. */
export function openTaskView({ key, record, items, ended }: ActiveTask): OpenTask {
  return {
    task_id: key[2],
    kind: record.kind,
    state: record.cancelled ? 'REVOKED' : record.startedMs === undefined ? 'PENDING' : 'STARTED',
    created_at: new Date(record.createdMs).toISOString(),
    total: items.length,
    done: ended,
    message: `${ended} of ${items.length} done`,
    can_cancel: record.group && !record.cancelled,
  };
}

/** One item as a task of its own, which cannot be cancelled alone. */
export function itemView(id: string, record: TaskRecord, item: ItemRecord | undefined): Task {
  const cancelled = record.cancelled !== undefined;
  const view: Task = { task_id: id, state: 'PENDING', meta: null, result: null, error: null, traceback: null, cancelled };
  if (item === undefined) return { ...view, state: 'SUCCESS', result: record.result ?? {} };
  if (item.state === 'running') return { ...view, state: 'STARTED' };
  if (item.state === 'pending')
    return cancelled ? { ...view, state: 'REVOKED' } : { ...view, state: item.attempts > 0 ? 'RETRY' : 'PENDING' };
  if (!isFailed(item)) return { ...view, state: 'SUCCESS', result: item.outcome!.info };
  return { ...view, state: 'FAILURE', error: reasonOf(item), traceback: `${item.name}: ${reasonOf(item)}` };
}

function groupState(record: TaskRecord, items: readonly ItemRecord[]): Task['state'] {
  if (record.cancelled) return 'REVOKED';
  if (record.phase === 'finished') return items.some(isFailed) ? 'FAILURE' : 'SUCCESS';
  return record.startedMs === undefined ? 'PENDING' : 'STARTED';
}

function isFailed(item: ItemRecord): boolean {
  return item.state === 'failed' || item.outcome?.status === 'failed';
}

function reasonOf(item: ItemRecord): string {
  const { error, reason } = item.outcome?.info ?? {};
  return item.error ?? String(error ?? reason ?? 'unknown reason');
}

function progressMeta(id: string, record: TaskRecord, items: readonly ItemRecord[], live: ActiveTask | undefined): JsonObject {
  const current = items.filter((item) => item.state === 'done' || item.state === 'failed').length;
  const total = items.length;
  const listed = items.length <= MAX_LISTED_FILES ? [...items.keys()] : mostTelling(items);
  const pace = live ? paceOf(live) : undefined;
  return {
    current,
    total,
    progress: total === 0 ? 100 : Math.floor((100 * current) / total),
    message: `Processing ${current}/${total} files`,
    files: listed.map((index) => fileOf(id, record, items[index]!, index)),
    ...(listed.length < total ? { files_omitted: total - listed.length } : {}),
    ...chunkTotals(items),
    ...(pace ? { files_per_second: pace.perSecond, eta_seconds: pace.leftS } : {}),
  };
}

/** Of many items, those that run or failed, then the last that ended, then the next. */
function mostTelling(items: readonly ItemRecord[]): number[] {
  const rank = (item: ItemRecord): number => (item.state === 'running' ? 0 : isFailed(item) ? 1 : item.state === 'done' ? 2 : 3);
  const byRank = [...items.keys()].sort((a, b) => {
    const [first, second] = [rank(items[a]!), rank(items[b]!)];
    return first - second || (first === 2 ? b - a : a - b);
  });
  return byRank.slice(0, MAX_LISTED_FILES).sort((a, b) => a - b);
}

function fileOf(id: string, record: TaskRecord, item: ItemRecord, index: number): JsonObject {
  const { outcome } = item;
  const revoked = item.state === 'pending' && record.cancelled !== undefined;
  const waits = item.state === 'pending' && !revoked;
  const state = item.state === 'running' ? 'processing' : waits ? 'pending' : revoked || isFailed(item) ? 'failure' : 'success';
  return {
    index,
    task_id: `${id}.${index}`,
    state,
    filename: item.name,
    error: revoked ? CANCELLED : isFailed(item) || item.error !== undefined ? reasonOf(item) : null,
    stored_count: outcome?.stored ?? 0,
    skipped_count: outcome?.skipped ?? 0,
    ...(outcome?.info.chunks === undefined ? {} : { chunks: outcome.info.chunks }),
  };
}

function chunkTotals(items: readonly ItemRecord[]): { stored_count: number; skipped_count: number } {
  let [stored, skipped] = [0, 0];
  for (const { outcome } of items) {
    stored += outcome?.stored ?? 0;
    skipped += outcome?.skipped ?? 0;
  }
  return { stored_count: stored, skipped_count: skipped };
}

function groupResult(items: readonly ItemRecord[]): JsonObject {
  const failed = items.filter(isFailed).length;
  const skipped = items.filter((item) => item.outcome && !isFailed(item) && isSkipped(item.outcome)).length;
  return {
    processed_files: items.length - failed - skipped,
    failed_files: failed,
    skipped_files: skipped,
    ...chunkTotals(items),
    details: items.map(detailOf),
  };
}

/** `[succeeded, info]`; of an item whose run threw, an object. */
function detailOf(item: ItemRecord): unknown {
  if (item.outcome) return [item.outcome.status !== 'failed', item.outcome.info];
  const error = reasonOf(item);
  return { file_hash: item.key, success: false, error, attempts: item.attempts, details: { status: 'failed', filename: item.name, error } };
}
