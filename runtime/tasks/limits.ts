/** Items that run at the same time, over all tasks. */
export const CONCURRENCY = 4;
/** Items of one task. */
export const MAX_ITEMS = 100_000;
/** Tasks that are not finished, over all projects. */
export const MAX_OPEN_TASKS = 1_000;
/** Runs of an item that may end with an error that may pass (threat T25). */
export const MAX_ATTEMPTS = 5;
/** Runs of an item that may be cut short by the end of the process without any progress: what kills the daemon is not tried for ever. */
export const MAX_INTERRUPTIONS = 20;
/** Finished tasks that are kept, over all projects; the oldest go first. */
export const MAX_FINISHED_TASKS = 1_000;
/** Finished tasks older than this are removed. */
export const MAX_FINISHED_AGE_MS = 30 * 24 * 3600_000;
/** How often the two limits above are looked at, besides at the end of each task. */
export const RETENTION_INTERVAL_MS = 3600_000;
/** Longest wait of a cancellation for running items and for taking back; both go on after it. */
export const CANCEL_WAIT_MS = 30_000;
/** Longest wait of a closing queue for runs that do not stop. */
export const CLOSE_WAIT_MS = 5_000;
/** Items that one write stores or removes. */
export const ITEMS_PER_WRITE = 500;
/** Files that the progress of a task lists. */
export const MAX_LISTED_FILES = 1_000;
/** Least time between two log lines about one task. */
export const LOG_INTERVAL_MS = 5_000;

/** Waiting times between attempts: `firstMs`, then `factor` times the one before, at most `mostMs`; up to half of each is left out at random. */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly mostMs: number;
}

/** Between attempts of an item: about 2, 8, 32 and 128 s. */
export const RETRY_BACKOFF: Backoff = { firstMs: 2_000, factor: 4, mostMs: 300_000 };
/** Between attempts to store what an item came to, while the disk refuses. */
export const STORE_BACKOFF: Backoff = { firstMs: 500, factor: 2, mostMs: 30_000 };

/** The wait before attempt `count` + 1, in milliseconds. */
export function delayMs({ firstMs, factor, mostMs }: Backoff, count: number): number {
  const whole = Math.min(mostMs, firstMs * factor ** Math.max(0, count - 1));
  return whole * (1 - Math.random() / 2);
}
