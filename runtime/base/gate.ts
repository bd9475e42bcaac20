import { Failure } from '../../schemas/errors.js';

/** Lets a few through at a time; others wait in their order, and too many are refused. */
export class Gate {
  readonly #what: string;
  readonly #atOnce: number;
  readonly #mayWait: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  /** `what` is the plural of what is let through, for messages. */
  constructor(what: string, atOnce: number, mayWait: number) {
    this.#what = what;
    this.#atOnce = atOnce;
    this.#mayWait = mayWait;
  }

  /** Runs `work` when its turn comes. Throws `busy` when too many wait, and the reason of an abort before the work has begun. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#inside < this.#atOnce) this.#inside += 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      // Who waits takes the place over, so that nobody slips in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside -= 1;
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#mayWait) {
      const figures = `${this.#inside} are running and ${this.#waiting.length} wait`;
      throw new Failure('busy', `Too many ${this.#what}: ${figures}. Try again when some are done.`, { retryAfterS: 5 });
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
    });
  }
}

/** Runs work on the same key one after the other, and work on different keys at the same time. */
export class Locks {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Starts `work` when all earlier work on `key` has ended, well or not, and settles as it does. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return result;
  }
}

/** Runs tasks one after another, in the order they came; a failed one does not stop the next. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as `task` does, once those before it have ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
