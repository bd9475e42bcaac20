/** Works of one thing that overlap: those of which the last one alone counts, and those that must go one after the other. */

/** Work of which the last one alone counts: what was begun before it, or before `end`, changes nothing any more, however late it answers or fails. */
export class Latest {
  /** Whether work goes on that counts. */
  isBusy = $state(false);
  #ending: AbortController | undefined;
  #newest: Promise<void> | undefined;

  /**
   * Begins work in the place of what goes on, whose signal aborts then. `take` is given the answer, and `fail` what went wrong, unless other work took this one's
   * place. Resolves when the work that counts by then is over; rejects where that fails and has no `fail`.
   */
  run<Answer>(
    work: (signal: AbortSignal) => Promise<Answer>,
    take: (answer: Answer) => void,
    fail?: (error: unknown) => void,
  ): Promise<void> {
    this.end();
    const ending = new AbortController();
    [this.#ending, this.isBusy] = [ending, true];
    const mine: Promise<void> = this.#do(ending, work, take, fail).then(() => (this.#newest === mine ? undefined : this.#newest));
    this.#newest = mine;
    return mine;
  }

  /** Ends what goes on: it does not count any more. */
  end(): void {
    this.#ending?.abort();
    [this.#ending, this.isBusy] = [undefined, false];
  }

  async #do<Answer>(
    ending: AbortController,
    work: (signal: AbortSignal) => Promise<Answer>,
    take: (answer: Answer) => void,
    fail: ((error: unknown) => void) | undefined,
  ): Promise<void> {
    try {
      const answer = await work(ending.signal);
      if (this.#ending === ending) take(answer);
    } catch (error) {
      if (this.#ending !== ending) return;
      if (!fail) throw error;
      fail(error);
    } finally {
      if (this.#ending === ending) this.isBusy = false;
    }
  }
}

/** Begins works that change one thing one after the other, in the order in which they were asked for. */
export function inOrder(): <Answer>(work: () => Promise<Answer>) => Promise<Answer> {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = before.then(work);
    before = mine.catch(() => undefined);
    return mine;
  };
}
