import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { CancelReply, OpenTask, Task } from '../../schemas/generated/core/tasks.js';
import { log } from '../base/log.js';
import { orAborted, orLate } from '../base/loop.js';
import type { ItemRecord, Store, TaskKey, TaskRecord } from '../store/store.js';
import { ActiveTask } from './active.js';
import { alreadyCancelledReply, alreadyCompletedReply, cancelledReply, revertItems } from './cancel.js';
import type { TaskKind, TaskSpec } from './contract.js';
import { Journal, Retention } from './journal.js';
import { type Backoff, CANCEL_WAIT_MS, CONCURRENCY, MAX_ITEMS, MAX_OPEN_TASKS, RETRY_BACKOFF } from './limits.js';
import { itemView, openTaskView, taskView } from './task-view.js';
import { type Around, Worker } from './worker.js';

/** What tests change, and in what the work of a namespace runs. */
export interface TasksOptions {
  readonly around?: Around;
  readonly concurrency?: number;
  readonly backoff?: Backoff;
  readonly maxFinished?: number;
}

/**
 * Tasks that outlive the process: what `start` has acknowledged is done or is reported as failed, whatever ends the daemon in between. Each
 * item is noted on disk before it runs and after it ended; a start goes on with the items that did not end.
 */
export class Tasks {
  readonly #journal: Journal;
  readonly #kinds: Readonly<Record<string, TaskKind>>;
  readonly #worker: Worker;
  readonly #retention: Retention;
  #closing: Promise<void> | undefined;

  constructor(store: Store, kinds: Readonly<Record<string, TaskKind>>, options: TasksOptions = {}) {
    this.#journal = new Journal(store);
    this.#kinds = kinds;
    this.#retention = new Retention(this.#journal, options.maxFinished);
    this.#worker = new Worker({
      journal: this.#journal,
      kinds,
      concurrency: options.concurrency ?? CONCURRENCY,
      backoff: options.backoff ?? RETRY_BACKOFF,
      around: options.around ?? ((_namespace, work) => work()),
      onAllEnded: (task) => void this.#finish(task),
    });
    this.#resume();
  }

  /** How many tasks have not ended. */
  get openCount(): number {
    return this.#worker.open.size;
  }

  /** Stores a task and returns its id; it is on disk then. Throws `bad_request` (too many items), `busy`, or what the store throws. */
  async start(spec: TaskSpec): Promise<string> {
    const { namespace, project, kind, items, shared = {}, group = true } = spec;
    if (items.length > MAX_ITEMS) {
      throw new Failure('bad_request', `A task may have ${MAX_ITEMS} items; this one would have ${items.length}. Split it.`);
    }
    if (this.#worker.open.size >= MAX_OPEN_TASKS) {
      throw new Failure('busy', `${MAX_OPEN_TASKS} tasks wait or run already. Try again when some have finished.`, { retryAfterS: 30 });
    }
    if (this.#closing) throw new Failure('unavailable', 'The daemon is stopping.');
    const key: TaskKey = [namespace, project, randomUUID()];
    const nowMs = Date.now();
    const isEmpty = items.length === 0;
    const record: TaskRecord = {
      kind,
      group,
      phase: isEmpty ? 'finished' : 'open',
      total: items.length,
      shared,
      createdMs: nowMs,
      ...(isEmpty ? { startedMs: nowMs, finishedMs: nowMs, result: spec.emptyResult ?? {} } : {}),
    };
    const stored = items.map(({ key, name, input }): ItemRecord => ({ key, name, input, state: 'pending', attempts: 0, interruptions: 0 }));
    await this.#journal.add(key, record, stored);
    if (isEmpty) this.#keep(key, nowMs);
    else this.#worker.add(new ActiveTask(key, record, stored));
    return key[2];
  }

  /** A task, or one item of a group under `<id>.<index>`. Throws `not_found`. */
  get(namespace: string, project: string, id: string): Task {
    const key: TaskKey = [namespace, project, id];
    const live = this.#live(key);
    if (live) return taskView(key, live.record, live.items, live);
    const record = this.#journal.task(key);
    if (record) return taskView(key, record, this.#journal.items(id));
    const part = this.#part(key);
    if (part) return part;
    throw unknownTask(key);
  }

  /** The tasks of a project that have not ended, the oldest first. */
  open(namespace: string, project: string): OpenTask[] {
    const own = [...this.#worker.open.values()].filter(({ key }) => key[0] === namespace && key[1] === project);
    return own.map(openTaskView).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }

  /** Waits until a task is finished; rejects when `signal` aborts first. */
  async finished(namespace: string, project: string, id: string, signal: AbortSignal): Promise<Task> {
    const live = this.#live([namespace, project, id]);
    if (live) await orAborted(live.finished, signal);
    return this.get(namespace, project, id);
  }

  /** Cancels a group: waiting items never run, running ones are stopped, and what was done is taken back. Throws `not_found` for all but groups. */
  async cancel(namespace: string, project: string, id: string): Promise<CancelReply> {
    const key: TaskKey = [namespace, project, id];
    const task = this.#live(key);
    const record = task?.record ?? this.#journal.task(key);
    if (!record?.group) {
      throw new Failure('not_found', `Task ${id} not found or cannot be cancelled: only group tasks of ${namespace}/${project} can.`);
    }
    if (!task) {
      if (record.cancelled) return alreadyCancelledReply(id, record, { pending: 0, running: 0 });
      const hasFailed = taskView(key, record, this.#journal.items(id)).state === 'FAILURE';
      return alreadyCompletedReply(id, hasFailed ? 'failure' : 'success');
    }
    if (record.cancelled) return alreadyCancelledReply(id, record, { pending: task.waiting, running: task.running.size });
    if (task.ended === task.items.length) {
      // Nothing is left to cancel; the end is being stored.
      await task.finished;
      return this.cancel(namespace, project, id);
    }
    const mark = { atMs: Date.now(), pending: task.waiting, running: task.running.size };
    record.cancelled = mark;
    try {
      await this.#journal.write((batch) => batch.put('tasks', key, record));
    } catch (failure) {
      delete record.cancelled;
      if (task.ended === task.items.length) void this.#finish(task);
      this.#worker.pump();
      throw failure;
    }
    for (const { controller } of task.running.values()) controller.abort(new Failure('unavailable', 'The task was cancelled.'));
    await this.#cleanUp(task, CANCEL_WAIT_MS);
    return cancelledReply(id, task.record);
  }

  /** Ends and forgets everything of a project that is deleted. */
  async erase(namespace: string, project: string): Promise<void> {
    const keys = this.#retention.forget(namespace, project);
    for (const task of [...this.#worker.open.values()]) {
      if (task.key[0] !== namespace || task.key[1] !== project) continue;
      task.erased = true;
      for (const { controller } of task.running.values()) controller.abort(new Failure('unavailable', 'The project was deleted.'));
      await Promise.all([...task.running.values()].map(({ ended }) => ended));
      this.#worker.drop(task);
      keys.push(task.key);
    }
    for (const key of keys) await this.#journal.remove(key);
  }

  /** Stops what runs, which goes on after the next start. Close the store after that. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#journal.close();
      await this.#worker.close();
      await Promise.all([...this.#worker.open.values()].map(({ cleanup }) => cleanup));
      await this.#retention.close();
    })();
    return this.#closing;
  }

  /** Takes up what an earlier process left. */
  #resume(): void {
    let open = 0;
    for (const { key, value } of this.#journal.tasks()) {
      if (value.phase === 'preparing') {
        void this.#journal.remove(key).catch((cause: unknown) => log('warn', 'an unfinished task record could not be removed', { cause }));
      } else if (value.phase === 'finished') this.#retention.add(key, value.finishedMs ?? value.createdMs);
      else {
        const task = new ActiveTask(key, value, this.#journal.items(key[2]));
        open += 1;
        this.#worker.add(task);
        if (value.cancelled) void this.#cleanUp(task);
        else if (task.ended === task.items.length) void this.#finish(task);
      }
    }
    this.#retention.prune();
    if (open > 0) log('info', `${open} unfinished tasks go on`);
  }

  /** The open task of a key. */
  #live(key: TaskKey): ActiveTask | undefined {
    const task = this.#worker.get(key[2]);
    return task && task.key[0] === key[0] && task.key[1] === key[1] ? task : undefined;
  }

  #part([namespace, project, id]: TaskKey): Task | undefined {
    const at = id.lastIndexOf('.');
    const index = id.slice(at + 1);
    if (at < 0 || !/^\d{1,6}$/.test(index)) return undefined;
    const key: TaskKey = [namespace, project, id.slice(0, at)];
    const live = this.#live(key);
    const record = live?.record ?? this.#journal.task(key);
    const item = live ? live.items[Number(index)] : this.#journal.item(key[2], Number(index));
    return record && item ? itemView(id, record, item) : undefined;
  }

  async #finish(task: ActiveTask): Promise<void> {
    const record: TaskRecord = { ...task.record, phase: 'finished', finishedMs: Date.now() };
    if (!(await this.#journal.insist((batch) => batch.put('tasks', task.key, record)))) return;
    Object.assign(task.record, record);
    this.#worker.drop(task);
    this.#ended(task);
  }

  /** Takes back what a cancelled task has done; returns after `waitMs` at most, while it goes on. */
  async #cleanUp(task: ActiveTask, waitMs = 0): Promise<void> {
    task.cleanup ??= revertItems(task, this.#kinds[task.record.kind], this.#journal).then(() => {
      if (task.erased || task.record.phase !== 'finished') return;
      this.#worker.drop(task);
      this.#ended(task);
    });
    await orLate(task.cleanup, waitMs);
  }

  #ended({ key, record, items }: ActiveTask): void {
    const [namespace, project, id] = key;
    this.#kinds[record.kind]?.ended?.({ namespace, project, id, record, items });
    this.#keep(key, record.finishedMs!);
  }

  #keep(key: TaskKey, finishedMs: number): void {
    this.#retention.add(key, finishedMs);
    this.#retention.prune();
  }
}

function unknownTask([namespace, project, id]: TaskKey): Failure {
  return new Failure('not_found', `Task not found: ${namespace}/${project} has no task ${JSON.stringify(id.slice(0, 80))}.`);
}
