import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '../base/log.js';
import type { Batch, ItemRecord, Store, TaskKey, TaskRecord } from '../store/store.js';
import { delayMs, ITEMS_PER_WRITE, MAX_FINISHED_AGE_MS, MAX_FINISHED_TASKS, RETENTION_INTERVAL_MS, STORE_BACKOFF } from './limits.js';

/** Records that one read takes from the store. */
const PAGE = 1_000;

/** Reads and writes tasks. */
export class Journal {
  readonly #store: Store;
  readonly #closing = new AbortController();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Every task that is kept. */
  *tasks(): Generator<{ key: TaskKey; value: TaskRecord }> {
    let start: TaskKey | undefined;
    for (;;) {
      const page = this.#store.tasks.page({ ...(start ? { start } : {}), limit: PAGE });
      for (const entry of page) if (entry.key.join('\n') !== start?.join('\n')) yield entry;
      if (page.length < PAGE) return;
      start = page.at(-1)!.key;
    }
  }

  /** One task; undefined when there is none, or when it was not stored whole. */
  task(key: TaskKey): TaskRecord | undefined {
    const record = this.#store.tasks.get(key);
    return record?.phase === 'preparing' ? undefined : record;
  }

  /** All items of a task, in order. */
  items(id: string): ItemRecord[] {
    const items: ItemRecord[] = [];
    for (;;) {
      const page = this.#store.taskItems.page({ start: [id, items.length], end: [id, Number.MAX_SAFE_INTEGER], limit: PAGE });
      for (const { value } of page) items.push(value);
      if (page.length < PAGE) return items;
    }
  }

  /** One item; undefined when there is none. */
  item(id: string, index: number): ItemRecord | undefined {
    return this.#store.taskItems.get([id, index]);
  }

  /** Stores a new task with its items; whatever cuts it short, the task then is there whole or not at all. */
  async add(key: TaskKey, record: TaskRecord, items: readonly ItemRecord[]): Promise<void> {
    if (items.length <= ITEMS_PER_WRITE) {
      await this.#store.write((batch) => {
        batch.put('tasks', key, record);
        putItems(batch, key[2], items, 0);
      });
      return;
    }
    await this.#store.write((batch) => batch.put('tasks', key, { ...record, phase: 'preparing' }));
    try {
      for (let from = 0; from < items.length; from += ITEMS_PER_WRITE) {
        await this.#store.write((batch) => putItems(batch, key[2], items.slice(from, from + ITEMS_PER_WRITE), from));
      }
      await this.#store.write((batch) => batch.put('tasks', key, record));
    } catch (failure) {
      await this.remove(key).catch(() => undefined);
      throw failure;
    }
  }

  /** One write. Rejects as the store does. */
  write(fill: (batch: Batch) => void): Promise<void> {
    return this.#store.write(fill);
  }

  /** A write that must not be lost: while the disk refuses, it is tried again. False when the queue closed before it went through. */
  async insist(fill: (batch: Batch) => void): Promise<boolean> {
    for (let failures = 1; ; failures += 1) {
      try {
        await this.#store.write(fill);
        return true;
      } catch (cause) {
        if (this.#closing.signal.aborted) return false;
        if (failures === 1) log('warn', 'the state of a task could not be stored; it is tried again', { cause });
        await sleep(delayMs(STORE_BACKOFF, failures), undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
        if (this.#closing.signal.aborted) return false;
      }
    }
  }

  /** Removes a task: its items first, so that what is cut short can be continued. */
  async remove(key: TaskKey): Promise<void> {
    const [, , id] = key;
    for (;;) {
      const keys = this.#store.taskItems.keys({ start: [id, 0], end: [id, Number.MAX_SAFE_INTEGER], limit: ITEMS_PER_WRITE });
      await this.#store.write((batch) => {
        for (const item of keys) batch.remove('taskItems', item);
        if (keys.length < ITEMS_PER_WRITE) batch.remove('tasks', key);
      });
      if (keys.length < ITEMS_PER_WRITE) return;
    }
  }

  /** Whether the queue closes: what takes long stops, and goes on after the next start. */
  get closing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Ends writes that are tried again and again. */
  close(): void {
    this.#closing.abort();
  }
}

function putItems(batch: Batch, id: string, items: readonly ItemRecord[], from: number): void {
  for (const [offset, item] of items.entries()) batch.put('taskItems', [id, from + offset], item);
}

/** Removes finished tasks that are too many or too old. */
export class Retention {
  readonly #journal: Journal;
  readonly #most: number;
  /** In the order in which they finished. */
  readonly #kept: { key: TaskKey; finishedMs: number }[] = [];
  readonly #timer: NodeJS.Timeout;
  #pruning: Promise<void> | undefined;
  #closed = false;

  constructor(journal: Journal, most = MAX_FINISHED_TASKS) {
    this.#journal = journal;
    this.#most = most;
    this.#timer = setInterval(() => this.prune(), RETENTION_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Notes a task that is finished; call `prune` after that. */
  add(key: TaskKey, finishedMs: number): void {
    const last = this.#kept.findLastIndex((one) => one.finishedMs <= finishedMs);
    this.#kept.splice(last + 1, 0, { key, finishedMs });
  }

  /** Forgets the tasks of a project, which were removed. */
  forget(namespace: string, project: string): TaskKey[] {
    const gone = this.#kept.filter(({ key }) => key[0] === namespace && key[1] === project);
    for (const one of gone) this.#kept.splice(this.#kept.indexOf(one), 1);
    return gone.map(({ key }) => key);
  }

  /** Starts removing what is over the limits, unless that is under way. */
  prune(): void {
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = undefined;
    });
  }

  /** Waits for what is under way and starts nothing more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#pruning;
  }

  async #prune(): Promise<void> {
    for (;;) {
      const [oldest] = this.#kept;
      const isOver = this.#kept.length > this.#most || (oldest && oldest.finishedMs < Date.now() - MAX_FINISHED_AGE_MS);
      if (this.#closed || !oldest || !isOver) return;
      try {
        await this.#journal.remove(oldest.key);
      } catch (cause) {
        log('warn', 'an old task could not be removed; it is tried again later', { task: oldest.key[2], cause });
        return;
      }
      const at = this.#kept.indexOf(oldest);
      if (at >= 0) this.#kept.splice(at, 1);
    }
  }
}
