import { readFileSync } from 'node:fs';

/** Length of a tick in which Linux counts the time of processes, in milliseconds. */
const TICK_MS = 10;
/** States of a process that works, or waits for a processor or its disk: running, and uninterruptible sleep. */
const WORKING: readonly string[] = ['R', 'D'];

/** What a process did with the time since the last look, in milliseconds. Time in which it waited for a processor is neither. */
export interface Spent {
  /** Processor time that it had, of all its threads. */
  readonly workedMs: number;
  /** Time in which it had nothing to do, or hung. */
  readonly idleMs: number;
}

/**
 * Tells how a process spends its time, so that one that is starved by others is not taken for one that hangs. On Linux; elsewhere all time
 * counts as idle.
 */
export class Effort {
  readonly #pid: number | undefined;
  #seenMs = performance.now();
  #totalMs: number;

  constructor(pid: number | undefined) {
    this.#pid = pid;
    this.#totalMs = this.#look()?.totalMs ?? 0;
  }

  /** What was spent since the last call. */
  take(): Spent {
    const nowMs = performance.now();
    const passedMs = nowMs - this.#seenMs;
    this.#seenMs = nowMs;
    const seen = this.#look();
    if (!seen) return { workedMs: 0, idleMs: passedMs };
    const workedMs = Math.max(0, seen.totalMs - this.#totalMs);
    this.#totalMs = seen.totalMs;
    return { workedMs, idleMs: workedMs > 0 || WORKING.includes(seen.state) ? 0 : passedMs };
  }

  #look(): { state: string; totalMs: number } | undefined {
    if (this.#pid === undefined) return undefined;
    try {
      const stat = readFileSync(`/proc/${this.#pid}/stat`, 'utf8');
      // The command name may hold spaces and brackets; the fields behind its last `)` are fixed (proc(5)): state is the 3rd, utime the 14th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return { state: fields[0] ?? '', totalMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
    } catch {
      return undefined;
    }
  }
}
