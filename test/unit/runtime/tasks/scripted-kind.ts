import { setTimeout as sleep } from 'node:timers/promises';
import type { ItemOutcome } from '../../../../runtime/store/store.js';
import type { RunContext, TaskItem, TaskKind } from '../../../../runtime/tasks/contract.js';
import { Failure } from '../../../../schemas/errors.js';

/** An outcome in which `stored` chunks were stored. */
export function stored(item: TaskItem, count = 2): ItemOutcome {
  return {
    status: 'success',
    stored: count,
    skipped: 0,
    info: { filename: item.name, file_hash: item.key, status: 'success', chunks: count },
  };
}

/**
 * A kind whose items say what happens in their names: `ok`, `bad` (a failed outcome), `dup`, `down` (passing failures for ever), `down:n`
 * (n of them), `crash` (an unexpected error), `wait` (until `open` or aborted), `stuck-revert`.
 */
export class ScriptedKind implements TaskKind {
  readonly ran: string[] = [];
  readonly reverted: string[] = [];
  running = 0;
  mostRunning = 0;
  /** Items that have begun to wait: what they touch is noted. */
  waiting = 0;
  #open!: () => void;
  readonly #gate = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  /** Lets waiting items go on. */
  open(): void {
    this.#open();
  }

  async run(item: TaskItem, context: RunContext): Promise<ItemOutcome> {
    this.ran.push(item.name);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      return await this.#act(item, context);
    } finally {
      this.running -= 1;
    }
  }

  revert(item: TaskItem): Promise<number> {
    if (item.name.startsWith('stuck-revert')) return Promise.reject(new Error('the database is gone'));
    this.reverted.push(item.name);
    return Promise.resolve(2);
  }

  lock(item: TaskItem): string {
    return item.key;
  }

  async #act(item: TaskItem, { signal, attempt, touch, report }: RunContext): Promise<ItemOutcome> {
    const [word, count = 'Infinity'] = item.name.split(':');
    await sleep(1);
    if (word === 'crash') throw new TypeError('a secret of the inside');
    if (word === 'down' && attempt <= Number(count)) throw new Failure('unavailable', 'The embedder does not answer.');
    if (word === 'bad')
      return { status: 'failed', stored: 0, skipped: 0, info: { filename: item.name, error: 'it is protected by a password' } };
    if (word === 'dup') return { status: 'skipped', stored: 0, skipped: 3, info: { filename: item.name, reason: 'duplicate' } };
    if (word === 'wait') {
      await touch();
      signal.throwIfAborted();
      report({ done: 1, total: 2, stored: 1 });
      this.waiting += 1;
      await Promise.race([
        this.#gate,
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
      ]);
    }
    return stored(item);
  }
}
