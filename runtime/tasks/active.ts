import { log } from '../base/log.js';
import type { ItemRecord, TaskKey, TaskRecord } from '../store/store.js';
import type { TaskItem } from './contract.js';
import { LOG_INTERVAL_MS } from './limits.js';

/** An item under way. */
export interface Run {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  /** Share of the item that is done, 0 to 1. */
  fraction: number;
}

/** Items at the front of a queue that are looked at for one whose lock is free. */
const LOOK_AHEAD = 32;

/** A task that is not finished, with all its items in memory. The store has the same, at most one write behind. */
export class ActiveTask {
  readonly running = new Map<number, Run>();
  /** Settles when the task is finished, in memory and on disk. */
  readonly finished: Promise<void>;
  /** Set when its project was erased: nothing of it is stored any more. */
  erased = false;
  /** The clean-up of a cancellation, while it goes on. */
  cleanup: Promise<void> | undefined;
  /** Moment (monotonic) and amount of work at the first run in this process, for the rate. */
  since: { atMs: number; amount: number } | undefined;
  loggedMs = Number.NEGATIVE_INFINITY;
  settle!: () => void;
  #queue: number[];
  #ended = 0;

  constructor(
    readonly key: TaskKey,
    readonly record: TaskRecord,
    readonly items: ItemRecord[],
  ) {
    this.finished = new Promise((resolve) => {
      this.settle = resolve;
    });
    this.#queue = [];
    for (const [index, item] of items.entries()) {
      // A run that its process did not survive.
      if (item.state === 'running') item.state = 'pending';
      if (item.state === 'pending') this.#queue.push(index);
      else this.#ended += 1;
    }
    this.#queue.reverse();
  }

  get id(): string {
    return this.key[2];
  }

  /** Items that will not run again. */
  get ended(): number {
    return this.#ended;
  }

  /** Items that wait for their first or next run. */
  get waiting(): number {
    return this.#isStopped ? 0 : this.#queue.length;
  }

  /** Nothing of it starts any more. */
  get #isStopped(): boolean {
    return this.record.cancelled !== undefined || this.erased;
  }

  /** Finished items, and running ones by the share that is done. */
  get amount(): number {
    let amount = this.#ended;
    for (const { fraction } of this.running.values()) amount += fraction;
    return amount;
  }

  /** Takes the first item out of the queue that is due and for which `isFree`. */
  take(nowMs: number, isFree: (index: number) => boolean): number | undefined {
    if (this.#isStopped) return undefined;
    const first = this.#queue.length - 1;
    for (let place = first, looked = 0; place >= 0 && looked < LOOK_AHEAD; place -= 1) {
      const index = this.#queue[place]!;
      if ((this.items[index]!.notBeforeMs ?? 0) > nowMs) continue;
      if (isFree(index)) {
        this.#queue.splice(place, 1);
        return index;
      }
      looked += 1;
    }
    return undefined;
  }

  /** When the next waiting item is due; infinite when none waits. */
  nextMs(): number {
    if (this.#isStopped) return Number.POSITIVE_INFINITY;
    return this.#queue.reduce((least, index) => Math.min(least, this.items[index]!.notBeforeMs ?? 0), Number.POSITIVE_INFINITY);
  }

  /** Puts an item back that is to run again. */
  requeue(index: number): void {
    this.#queue.unshift(index);
  }

  /** Counts an item that came to its end. */
  end(): void {
    this.#ended += 1;
  }

  /** An item in the form its kind sees. */
  item(index: number): TaskItem {
    const { key, name, input } = this.items[index]!;
    const [namespace, project, task] = this.key;
    return { namespace, project, task, key, name, input, shared: this.record.shared };
  }
}

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
