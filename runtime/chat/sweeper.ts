import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { log } from '../base/log.js';
import type { SessionKey, SessionRecord, Store } from '../store/store.js';
import { type Clock, EXPIRY_MS } from './session.js';

const INTERVAL_MS = 60_000;
/** A time of last use that lies this far in the future comes from a clock that was wrong. */
const MAX_AHEAD_MS = 60_000;
/** Records looked at or removed before other work gets its turn. */
const PAGE = 256;

/** Removes expired sessions, and the turns of deleted ones, in small portions in the background. */
export class SessionSweeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #expiredLive: (key: SessionKey) => boolean | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<number> | undefined;
  #emptying: Promise<void> | undefined;
  #stopped = false;

  /** `expiredLive` knows about sessions in memory: expired, in use, or undefined for one that is not there. */
  constructor(store: Store, clock: Clock, expiredLive: (key: SessionKey) => boolean | undefined) {
    this.#store = store;
    this.#clock = clock;
    this.#expiredLive = expiredLive;
  }

  /** Sweeps every minute. */
  start(): void {
    this.#timer = setInterval(() => this.sweep().catch(logFailure), INTERVAL_MS);
    this.#timer.unref();
  }

  /** Removes the turns of deleted sessions without anybody waiting for it. */
  emptyTrashSoon(): void {
    this.#empty().catch(logFailure);
  }

  /** Ends the sweeping; waits for a portion under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await Promise.allSettled([this.#sweeping, this.#emptying]);
  }

  /** One sweep through everything; returns how many sessions expired. Callers at the same time share one. */
  sweep(): Promise<number> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweep(): Promise<number> {
    let expired = 0;
    for (let start: SessionKey | undefined; !this.#stopped; ) {
      const page = this.#store.sessions.page({ ...(start ? { start: [...start] } : {}), limit: PAGE });
      expired += await this.#judge(page);
      if (page.length < PAGE) break;
      start = page.at(-1)!.key;
      await nextTurnOfLoop();
    }
    await this.#empty();
    return expired;
  }

  async #judge(page: readonly { key: SessionKey; value: SessionRecord }[]): Promise<number> {
    const now = this.#clock.wallMs();
    let expired = 0;
    await this.#store.write((batch) => {
      for (const { key, value } of page) {
        const live = this.#expiredLive(key);
        if (live ?? now - value.lastActiveMs >= EXPIRY_MS) {
          batch.remove('sessions', key);
          batch.put('trash', value.run, now);
          expired += 1;
        } else if (live === undefined && value.lastActiveMs - now > MAX_AHEAD_MS) {
          batch.put('sessions', key, { ...value, lastActiveMs: now });
        }
      }
    });
    return expired;
  }

  #empty(): Promise<void> {
    this.#emptying ??= this.#emptyTrash().finally(() => {
      this.#emptying = undefined;
    });
    return this.#emptying;
  }

  async #emptyTrash(): Promise<void> {
    for (;;) {
      const [next] = this.#store.trash.keys({ limit: 1 });
      if (next === undefined) return;
      for (let finished = false; !finished; ) {
        if (this.#stopped) return;
        const keys = this.#store.turns.keys({ start: [next, 0], end: [next, Number.POSITIVE_INFINITY], limit: PAGE });
        finished = keys.length < PAGE;
        await this.#store.write((batch) => {
          for (const key of keys) batch.remove('turns', key);
          if (finished) batch.remove('trash', next);
        });
      }
    }
  }
}

function logFailure(error: unknown): void {
  log('warn', 'expired chat sessions could not be removed', { error });
}
