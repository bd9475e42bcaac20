import type { EncoderUrgency } from '../encoder-contract.js';

/** Lengths that share a batch: steps of 8 up to 64, then of an eighth of the next power of two, so that at most an eighth of it is padding. */
const SMALLEST_STEP = 8;
const STEPS = 8;
/** Time that one batch should take: what an interactive call waits for at most when a bulk one runs. */
const BATCH_MS = 150;
/** Tokens of a batch before the model's speed is known, and their bounds; a single text may be longer. */
const FIRST_TOKENS = 512;
const FEWEST_TOKENS = 256;
const MOST_TOKENS = 8192;
/** Share of the last batch in the measured speed. */
const NEWEST_SHARE = 0.3;

/** A text on its way through the graph. */
export interface Row<Result> {
  readonly ids: readonly number[];
  readonly types: readonly number[];
  /** Reads this row's part of a batch. */
  readonly take: (batch: Result, index: number) => void;
}

interface Job {
  readonly signal: AbortSignal;
  left: number;
  failed: boolean;
  done(): void;
  fail(error: unknown): void;
}

interface Waiting<Result> {
  readonly row: Row<Result>;
  readonly job: Job;
  readonly order: number;
}

/** The greatest length of the texts that a text of so many tokens shares a batch with. */
export function paddedLength(tokens: number): number {
  const step = Math.max(SMALLEST_STEP, 2 ** Math.ceil(Math.log2(Math.max(1, tokens))) / STEPS);
  return Math.ceil(Math.max(1, tokens) / step) * step;
}

/** The rows of one urgency, by the greatest length that they may share a batch with. */
class Lane<Result> {
  readonly #queues = new Map<number, Waiting<Result>[]>();

  add(length: number, waiting: Waiting<Result>): void {
    const queue = this.#queues.get(length);
    if (queue) queue.push(waiting);
    else this.#queues.set(length, [waiting]);
  }

  /** The oldest row's length, and as many rows of it as `roomFor` says; rows that nobody waits for are dropped. */
  take(roomFor: (length: number) => number): { length: number; rows: Waiting<Result>[] } | undefined {
    let length: number | undefined;
    let oldest = Number.POSITIVE_INFINITY;
    for (const [key, queue] of this.#queues) {
      const live = queue.filter(({ job }) => !job.failed);
      if (live.length === 0) {
        this.#queues.delete(key);
        continue;
      }
      if (live.length < queue.length) this.#queues.set(key, live);
      if (live[0]!.order < oldest) {
        oldest = live[0]!.order;
        length = key;
      }
    }
    if (length === undefined) return undefined;
    return { length, rows: this.#queues.get(length)!.splice(0, Math.max(1, roomFor(length))) };
  }
}

/**
 * Runs rows of all calls together: rows of like length share a batch as long as its longest row, interactive ones go first, and a call that was
 * aborted takes no further batch. Batches are as large as fits into a fixed time at the speed that was measured.
 */
export class Batcher<Result> {
  readonly #lanes = { interactive: new Lane<Result>(), bulk: new Lane<Result>() };
  readonly #run: (rows: readonly Row<Result>[], length: number) => Promise<Result>;
  readonly #longest: number;
  #order = 0;
  #running = false;
  #tokens = FIRST_TOKENS;
  #msPerToken: number | undefined;

  /** `run` answers for rows padded to `length`; `longest` bounds it. */
  constructor(longest: number, run: (rows: readonly Row<Result>[], length: number) => Promise<Result>) {
    this.#longest = longest;
    this.#run = run;
  }

  /** Resolves when every row was taken; rejects with the signal's reason or the first failure. */
  submit(rows: readonly Row<Result>[], urgency: EncoderUrgency, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (rows.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => job.fail(signal.reason);
      const settled = (): void => signal.removeEventListener('abort', onAbort);
      const job: Job = {
        signal,
        left: rows.length,
        failed: false,
        done: () => {
          settled();
          resolve();
        },
        fail: (error) => {
          job.failed = true;
          settled();
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      for (const row of rows) {
        const length = Math.min(this.#longest, paddedLength(row.ids.length));
        this.#lanes[urgency].add(length, { row, job, order: this.#order++ });
      }
      if (!this.#running) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#running = true;
    // Rows that come in the same turn share the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    const roomFor = (length: number): number => Math.floor(this.#tokens / length);
    for (;;) {
      const batch = this.#lanes.interactive.take(roomFor) ?? this.#lanes.bulk.take(roomFor);
      if (!batch) break;
      await this.#batch(batch.rows);
      // Messages that came during the batch, such as cancels, have their turn before the next one.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#running = false;
  }

  async #batch(waiting: readonly Waiting<Result>[]): Promise<void> {
    const length = waiting.reduce((longest, { row }) => Math.max(longest, row.ids.length), 1);
    const started = performance.now();
    try {
      const result = await this.#run(
        waiting.map(({ row }) => row),
        length,
      );
      this.#measure(performance.now() - started, length * waiting.length);
      for (const [index, { row, job }] of waiting.entries()) this.#give(row, job, result, index);
    } catch (error) {
      for (const { job } of waiting) if (!job.failed) job.fail(error);
    }
  }

  #give(row: Row<Result>, job: Job, result: Result, index: number): void {
    if (job.failed) return;
    try {
      row.take(result, index);
      job.left -= 1;
      if (job.left === 0) job.done();
    } catch (error) {
      job.fail(error);
    }
  }

  #measure(ms: number, tokens: number): void {
    const now = ms / tokens;
    this.#msPerToken = this.#msPerToken === undefined ? now : this.#msPerToken * (1 - NEWEST_SHARE) + now * NEWEST_SHARE;
    this.#tokens = Math.min(MOST_TOKENS, Math.max(FEWEST_TOKENS, Math.round(BATCH_MS / this.#msPerToken)));
  }
}
