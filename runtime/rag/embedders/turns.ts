import type { Urgency } from './contract.js';

/** So long bulk work waits for interactive work at most: with questions all the time, ingestion still gets on. */
const PATIENCE_MS = 1000;

interface Waiting {
  readonly start: () => void;
  readonly sinceMs: number;
}

/** The turns at the embedder of one database: interactive work starts at once, bulk work one batch at a time and while no question is asked. */
export class Turns {
  #asking = 0;
  #busy = false;
  readonly #queue: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** No work is running or waiting. */
  get idle(): boolean {
    return this.#asking === 0 && !this.#busy && this.#queue.length === 0;
  }

  /** Does the work when it is its turn. Throws the reason of the abort while it waits. */
  async take<T>(urgency: Urgency, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (urgency === 'interactive') {
      this.#asking += 1;
      try {
        return await work();
      } finally {
        this.#asking -= 1;
        this.#next();
      }
    }
    await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#busy = false;
      this.#next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const at = this.#queue.indexOf(waiting);
        if (at >= 0) this.#queue.splice(at, 1);
        reject(signal.reason);
      };
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting: Waiting = { start, sinceMs: performance.now() };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  #next(): void {
    const first = this.#queue[0];
    if (!first || this.#busy) return;
    const leftMs = first.sinceMs + PATIENCE_MS - performance.now();
    if (this.#asking > 0 && leftMs > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#next();
      }, leftMs).unref();
      return;
    }
    this.#queue.shift();
    this.#busy = true;
    first.start();
  }
}
