import { log } from '../base/log.js';
import type { TaskKey } from '../store/store.js';
import type { Journal } from './journal.js';
import { MAX_FINISHED_AGE_MS, MAX_FINISHED_TASKS, RETENTION_INTERVAL_MS } from './limits.js';

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
