import type { EncoderUrgency } from '../../contracts/encoder.js';

/** Lengths that share a padded batch: steps of 8 up to 64, then of an eighth of the next power of two, so that at most an eighth of it is padding. */
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

/** What rows of different lengths cost each other. */
export interface Layout {
  /** Rows of the same number may share a batch. */
  shelf(tokens: number): number;
  /** Tokens that a row of so many takes in a batch whose longest row has `longest`. */
  taken(tokens: number, longest: number): number;
}

/** All rows of a batch become as long as its longest, which has `longest` tokens at most. */
export const padded = (longest: number): Layout => ({
  shelf: (tokens) => Math.min(longest, paddedLength(tokens)),
  taken: (_tokens, length) => length,
});

/** Rows lie one after the other, and any of them share a batch. */
export const RAGGED: Layout = { shelf: () => 0, taken: (tokens) => tokens };

/** Answers for rows of which the longest has `length` tokens, in `expectedMs` at the speed of those before. */
type Run<Result> = (rows: readonly Row<Result>[], length: number, expectedMs: number | undefined) => Promise<Result>;

/** The rows of one urgency, by the shelf of their length. */
class Lane<Result> {
  readonly #queues = new Map<number, Waiting<Result>[]>();

  add(shelf: number, waiting: Waiting<Result>): void {
    const queue = this.#queues.get(shelf);
    if (queue) queue.push(waiting);
    else this.#queues.set(shelf, [waiting]);
  }

  /** The oldest row and others of its shelf, as many as fit into so many tokens; rows that nobody waits for are dropped. */
  take(room: number, { taken }: Layout): Waiting<Result>[] | undefined {
    let shelf: number | undefined;
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
        shelf = key;
      }
    }
    if (shelf === undefined) return undefined;
    const queue = this.#queues.get(shelf)!;
    const tokensAt = (at: number): number => taken(queue[at]!.row.ids.length, shelf);
    let count = 1;
    for (let left = room - tokensAt(0); count < queue.length && left >= tokensAt(count); count += 1) left -= tokensAt(count);
    return queue.splice(0, count);
  }
}

/**
 * Runs rows of all calls together: rows that may share a batch do, interactive ones go first, and a call that was
 * aborted takes no further batch. Batches are as large as fits into a fixed time at the speed that was measured.
 */
export class Batcher<Result> {
  readonly #lanes = { interactive: new Lane<Result>(), bulk: new Lane<Result>() };
  readonly #run: Run<Result>;
  readonly #layout: Layout;
  #order = 0;
  #running = false;
  #tokens = FIRST_TOKENS;
  #msPerToken: number | undefined;

  constructor(layout: Layout, run: Run<Result>) {
    this.#layout = layout;
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
      for (const row of rows) this.#lanes[urgency].add(this.#layout.shelf(row.ids.length), { row, job, order: this.#order++ });
      if (!this.#running) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#running = true;
    // Rows that come in the same turn share the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const batch = this.#lanes.interactive.take(this.#tokens, this.#layout) ?? this.#lanes.bulk.take(this.#tokens, this.#layout);
      if (!batch) break;
      await this.#batch(batch);
      // Messages that came during the batch, such as cancels, have their turn before the next one.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#running = false;
  }

  async #batch(waiting: readonly Waiting<Result>[]): Promise<void> {
    const length = waiting.reduce((longest, { row }) => Math.max(longest, row.ids.length), 1);
    const tokens = waiting.reduce((sum, { row }) => sum + this.#layout.taken(row.ids.length, length), 0);
    const rows = waiting.map(({ row }) => row);
    const started = performance.now();
    try {
      const result = await this.#run(rows, length, this.#msPerToken === undefined ? undefined : tokens * this.#msPerToken);
      this.#measure(performance.now() - started, tokens);
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
