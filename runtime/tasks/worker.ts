import { Failure, type FailureKind } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import { orLate } from '../base/loop.js';
import type { ItemOutcome, ItemRecord } from '../store/store.js';
import { type ActiveTask, logProgress, type Run } from './active.js';
import type { RunContext, TaskKind } from './contract.js';
import type { Journal } from './journal.js';
import { type Backoff, CLOSE_WAIT_MS, delayMs, MAX_ATTEMPTS, MAX_INTERRUPTIONS, STORE_BACKOFF } from './limits.js';

/** Failures that may be gone at the next attempt. */
const PASSING: ReadonlySet<FailureKind> = new Set(['unavailable', 'timed_out', 'busy', 'too_many', 'disk_full']);
/** Longest sleep of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Does the work of an item of a namespace, with what that work has around it. */
export type Around = <T>(namespace: string, work: () => Promise<T>) => Promise<T>;

/** What a worker needs besides its tasks. */
export interface WorkerParts {
  readonly journal: Journal;
  readonly kinds: Readonly<Record<string, TaskKind>>;
  readonly concurrency: number;
  readonly backoff: Backoff;
  readonly around: Around;
  /** Called when every item of a task that is not cancelled has ended. */
  readonly onAllEnded: (task: ActiveTask) => void;
}

/** Runs the items of all open tasks, a few at a time, the tasks in turn. */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #tasks = new Map<string, ActiveTask>();
  readonly #locks = new Set<string>();
  #running = 0;
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** The open task of an id. */
  get(id: string): ActiveTask | undefined {
    return this.#tasks.get(id);
  }

  /** All open tasks. */
  get open(): ReadonlyMap<string, ActiveTask> {
    return this.#tasks;
  }

  /** Takes a task on; its items run as places get free. */
  add(task: ActiveTask): void {
    this.#tasks.set(task.id, task);
    this.pump();
  }

  /** Forgets a task that is finished or erased. */
  drop(task: ActiveTask): void {
    this.#tasks.delete(task.id);
    task.settle();
  }

  /** Starts what can be started. */
  pump(): void {
    clearTimeout(this.#timer);
    if (this.#closing) return;
    // One moment for both questions: an item must not become due between them, with nobody to wake up for it.
    const nowMs = Date.now();
    while (this.#running < this.#parts.concurrency && this.#startNext(nowMs)) {}
    if (this.#running >= this.#parts.concurrency) return;
    let next = Number.POSITIVE_INFINITY;
    for (const task of this.#tasks.values()) next = Math.min(next, task.nextMs());
    const wait = next - nowMs;
    // Items that are due and did not start wait for a lock; its holder pumps when it ends.
    if (wait > 0 && wait < Number.POSITIVE_INFINITY) {
      this.#timer = setTimeout(() => this.pump(), Math.min(wait, MAX_TIMER_MS));
    }
  }

  /** Stops all runs and waits for them, for a while; what did not end runs again after the next start. */
  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    const runs = [...this.#tasks.values()].flatMap((task) => [...task.running.values()]);
    for (const { controller } of runs) controller.abort(new Failure('unavailable', 'The daemon is stopping.'));
    await orLate(Promise.all(runs.map(({ ended }) => ended)), CLOSE_WAIT_MS);
  }

  /** Starts one item of the next task in turn that has one; false when none has. */
  #startNext(nowMs: number): boolean {
    const tasks = [...this.#tasks.values()];
    for (let step = 0; step < tasks.length; step += 1) {
      const task = tasks[(this.#turn + step) % tasks.length]!;
      const index = task.take(nowMs, (at) => !this.#locks.has(this.#lockOf(task, at)));
      if (index === undefined) continue;
      this.#turn = (this.#turn + step + 1) % tasks.length;
      this.#start(task, index);
      return true;
    }
    return false;
  }

  #lockOf(task: ActiveTask, index: number): string {
    const item = task.item(index);
    return `${task.record.kind}\n${this.#parts.kinds[task.record.kind]?.lock?.(item) ?? `${task.id}\n${index}`}`;
  }

  #start(task: ActiveTask, index: number): void {
    const lock = this.#lockOf(task, index);
    this.#locks.add(lock);
    this.#running += 1;
    const controller = new AbortController();
    const run: Run = { controller, fraction: 0, ended: this.#whole(task, index, controller) };
    task.running.set(index, run);
    task.since ??= { atMs: performance.now(), amount: task.ended };
    void run.ended.finally(() => {
      this.#locks.delete(lock);
      this.#running -= 1;
      task.running.delete(index);
      if (!this.#closing && !task.erased && !task.record.cancelled) {
        logProgress(task);
        if (task.ended === task.items.length) this.#parts.onAllEnded(task);
      }
      this.pump();
    });
  }

  /** One run from its first record to its last; never rejects. */
  async #whole(task: ActiveTask, index: number, controller: AbortController): Promise<void> {
    // Lets the caller register the run first.
    await Promise.resolve();
    const item = task.items[index]!;
    const { interruptions } = item;
    try {
      if (!(await this.#begin(task, index))) return;
      const kind = this.#parts.kinds[task.record.kind];
      if (!kind) throw new Failure('invalid', `This version has no tasks of kind ${task.record.kind}.`);
      controller.signal.throwIfAborted();
      const context = this.#context(task, index, controller.signal);
      const outcome = await this.#parts.around(task.key[0], () => kind.run(task.item(index), context));
      await this.#ended(task, index, { ...item, state: 'done', outcome });
    } catch (error) {
      await this.#failed(task, index, interruptions, controller.signal, error);
    }
  }

  /** Notes on disk that the item runs, before it does: what ends the process is counted. False when that cannot be noted now. */
  async #begin(task: ActiveTask, index: number): Promise<boolean> {
    const item = task.items[index]!;
    if (item.interruptions >= MAX_INTERRUPTIONS) {
      await this.#parts.kinds[task.record.kind]?.abandon?.(task.item(index));
      throw new Failure('internal', `The daemon ended ${item.interruptions} times while it worked on this; it is not tried again.`);
    }
    const started: ItemRecord = { ...item, state: 'running', interruptions: item.interruptions + 1 };
    delete started.notBeforeMs;
    const isFirst = task.record.startedMs === undefined;
    if (isFirst) task.record.startedMs = Date.now();
    try {
      await this.#parts.journal.write((batch) => {
        batch.put('taskItems', [task.id, index], started);
        if (isFirst) batch.put('tasks', task.key, task.record);
      });
    } catch (cause) {
      log('warn', 'a task waits: its state cannot be stored', { task: task.id, cause });
      if (isFirst) delete task.record.startedMs;
      item.notBeforeMs = Date.now() + delayMs(STORE_BACKOFF, MAX_ATTEMPTS);
      task.requeue(index);
      return false;
    }
    Object.assign(item, started);
    delete item.notBeforeMs;
    return true;
  }

  #context(task: ActiveTask, index: number, signal: AbortSignal): RunContext {
    const item = task.items[index]!;
    return {
      signal,
      attempt: item.attempts + item.interruptions,
      touch: async () => {
        if (item.touched) return;
        await this.#parts.journal.write((batch) => batch.put('taskItems', [task.id, index], { ...item, touched: true }));
        item.touched = true;
      },
      report: ({ done, total, stored }) => {
        const run = task.running.get(index);
        if (run && total !== undefined && total > 0) run.fraction = Math.min(1, done / total);
        // New work on disk: the next interruption is not one more of the same.
        if (stored > 0 && item.interruptions > 1) {
          item.interruptions = 1;
          void this.#parts.journal.write((batch) => batch.put('taskItems', [task.id, index], item)).catch(() => undefined);
        }
        logProgress(task);
      },
    };
  }

  async #failed(task: ActiveTask, index: number, interruptions: number, signal: AbortSignal, error: unknown): Promise<void> {
    const item = task.items[index]!;
    if (signal.aborted && (this.#closing || task.record.cancelled || task.erased)) {
      // Stopped, not failed: as if this run had not begun, but for what it may have changed.
      item.state = 'pending';
      item.interruptions = interruptions;
      if (!task.erased) await this.#parts.journal.write((batch) => batch.put('taskItems', [task.id, index], item)).catch(() => undefined);
      return;
    }
    const failure = error instanceof Failure ? error : undefined;
    if (!failure) log('error', 'a task met an unexpected error', { task: task.id, item: item.name, cause: error });
    const reason = failure?.message ?? 'Something went wrong inside the daemon; its log has the cause.';
    const attempts = item.attempts + 1;
    const next: ItemRecord = { ...item, interruptions: 0, attempts, error: reason };
    if (failure && PASSING.has(failure.kind) && attempts < MAX_ATTEMPTS) {
      const wait = delayMs(this.#parts.backoff, attempts);
      log('warn', `${item.name} is tried again`, { task: task.id, attempt: attempts, in_ms: Math.round(wait), reason });
      await this.#settle(task, index, { ...next, state: 'pending', notBeforeMs: Date.now() + wait });
      task.requeue(index);
      return;
    }
    await this.#ended(task, index, { ...next, state: 'failed' });
  }

  async #ended(task: ActiveTask, index: number, record: ItemRecord): Promise<void> {
    const { error: _former, ...rest } = record;
    const final: ItemRecord = record.state === 'done' ? { ...rest, interruptions: 0 } : record;
    if (await this.#settle(task, index, final)) task.end();
  }

  /** Stores what a run came to, however long the disk refuses; only then does the task show it. */
  async #settle(task: ActiveTask, index: number, record: ItemRecord): Promise<boolean> {
    if (task.erased) return false;
    const stored = await this.#parts.journal.insist((batch) => batch.put('taskItems', [task.id, index], record));
    if (stored) Object.assign(task.items[index]!, record);
    return stored;
  }
}

/** Whether an item counts as skipped: nothing new came of it. */
export function isSkipped({ status, stored, skipped, info }: ItemOutcome): boolean {
  return status === 'skipped' || info.reason === 'duplicate' || (status !== 'failed' && stored === 0 && skipped > 0);
}
