import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Clock } from '../../../runtime/voice/clock.js';

/** A clock that stands until it is moved; whatever waits for it is done in order. */
export class FakeClock implements Clock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  nowMs(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): { cancel(): void } {
    const timer = { at: this.#now + milliseconds, callback };
    this.#timers.push(timer);
    return { cancel: () => (this.#timers = this.#timers.filter((one) => one !== timer)) };
  }

  /** Resolves when so much time has passed, or rejects with the reason of the signal. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const timer = this.after(milliseconds, resolve);
      signal?.addEventListener('abort', () => {
        timer.cancel();
        reject(signal.reason as Error);
      });
    });
  }

  /** Moves on, and lets everything happen that is due on the way. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await turnOfLoop();
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await turnOfLoop();
    }
    this.#now = end;
    await turnOfLoop();
  }
}
