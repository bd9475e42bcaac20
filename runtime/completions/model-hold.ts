import type { Completion, CompletionPart, ContextUsage } from './contract.js';
import type { AcquiredModel } from './request.js';

/** An opened completion that nobody reads is given up after this time. */
const ABANDONED_AFTER_MS = 60_000;

/** Holds a model for one completion: released once, when the completion ends, its signal aborts, or nobody ever reads it. */
export class ModelHold {
  /** Aborts with the caller's signal, and when the hold ends. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #onAbort = () => this.end(this.#outer.reason);
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(
    readonly acquired: AcquiredModel,
    outer: AbortSignal,
  ) {
    this.#outer = outer;
    this.signal = this.#controller.signal;
    if (outer.aborted) this.end(outer.reason);
    else outer.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Gives the model back; everything that still runs with `signal` is aborted. Later calls do nothing. */
  end(reason?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#onAbort);
    this.#controller.abort(reason);
    this.acquired.release();
  }

  /** Starts the time within which reading must begin. */
  awaitReader(): void {
    this.#timer = setTimeout(() => this.end(new Error('the completion was not read in time')), ABANDONED_AFTER_MS);
    this.#timer.unref();
  }

  /** Reading began. */
  reading(): void {
    clearTimeout(this.#timer);
  }
}

/** A completion whose parts may be read once. Ending the reading, even before its start, ends the hold. */
export class OpenedCompletion implements Completion {
  readonly parts: AsyncIterable<CompletionPart>;

  constructor(
    readonly model: string,
    readonly contextUsage: ContextUsage,
    hold: ModelHold,
    source: AsyncGenerator<CompletionPart, void, undefined>,
  ) {
    hold.awaitReader();
    const iterator: AsyncIterator<CompletionPart, void, undefined> = {
      next() {
        hold.reading();
        return source.next();
      },
      async return() {
        // A generator that never started has no `finally` to run.
        hold.end();
        await source.return();
        return { done: true, value: undefined };
      },
    };
    this.parts = { [Symbol.asyncIterator]: () => iterator };
  }
}
