/** Where a voice session gets its time from; tests set their own. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  nowMs(): number;
  /** Calls back once after so many milliseconds, unless it is cancelled. */
  after(milliseconds: number, callback: () => void): { cancel(): void };
}

/** Milliseconds since a time of the clock, to a tenth. */
export const sinceMs = (clock: Clock, startMs: number): number => Math.round((clock.nowMs() - startMs) * 10) / 10;

/** The time of this machine. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Lets some wait until others have changed something. */
export class Changes {
  #waiting: (() => void)[] = [];

  /** Resolves at the next change. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Something has changed. */
  tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
