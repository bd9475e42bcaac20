/** Rows that are read in one go, which takes 1 to 2 ms (10 to 30 µs each, by their metadata). */
export const ROWS_PER_TURN = 64;

/** Runs tasks one after another, in the order they came; a failed one does not stop the next. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as `task` does, once its turn has come. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
