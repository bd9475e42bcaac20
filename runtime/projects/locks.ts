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
