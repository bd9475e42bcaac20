import { log } from '../base/log.js';
import type { ActiveTask } from './active.js';
import { LOG_INTERVAL_MS } from './limits.js';

/** Speed of a task since this process began with it; null where there is nothing to measure yet. */
export interface Pace {
  readonly perSecond: number | null;
  readonly leftS: number | null;
}

/** How fast a task goes and how long it will take at that. */
export function paceOf(task: ActiveTask): Pace {
  if (!task.since) return { perSecond: null, leftS: null };
  const elapsedS = (performance.now() - task.since.atMs) / 1000;
  const rate = (task.amount - task.since.amount) / elapsedS;
  if (!(rate > 0) || !Number.isFinite(rate)) return { perSecond: null, leftS: null };
  const left = (task.items.length - task.amount) / rate;
  return { perSecond: Number(rate.toPrecision(3)), leftS: Math.ceil(left) };
}

/** Writes how far a task is, now and then and at its end. */
export function logProgress(task: ActiveTask): void {
  const now = performance.now();
  const total = task.items.length;
  if (now - task.loggedMs < LOG_INTERVAL_MS && task.ended < total) return;
  task.loggedMs = now;
  const { perSecond, leftS } = paceOf(task);
  const [namespace, project, id] = task.key;
  const parts = [`task ${id} of ${namespace}/${project}: ${task.ended}/${total} files`];
  if (perSecond !== null) parts.push(`${perSecond} files/s`);
  if (leftS !== null && task.ended < total) parts.push(`${leftS} s left`);
  log('info', parts.join(', '));
}
