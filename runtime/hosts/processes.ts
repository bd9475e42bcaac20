import { readFileSync } from 'node:fs';

/** A process that holds something, as it is written into a lock file. */
export interface Owner {
  pid: number;
  /** Start time of that process as the kernel tells it, so that a recycled pid is not mistaken for the owner. */
  started: string;
}

/** This process. */
export const thisProcess = (): Owner => ({ pid: process.pid, started: startTime(process.pid) });

/** Whether a process still runs. */
export function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return owner.started === '' || owner.started === startTime(owner.pid);
}

/** Who holds a lock file; null where there is none or it says nothing. */
export function readOwner(path: string): Owner | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return null;
  }
}

function startTime(pid: number): string {
  const fields = statFields(pid);
  // A killed process that nobody has waited for yet (in containers perhaps for ever) still has its id and start time, but holds nothing.
  return !fields || fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
}

/** Length of a tick in which Linux counts the time of processes, in milliseconds. */
const TICK_MS = 10;
/** States of a process that works, or waits for a processor or its disk: running, and uninterruptible sleep. */
const WORKING: readonly string[] = ['R', 'D'];

/** How a process spent the time since the last reading, in milliseconds. Time in which it waited for a processor is neither. */
export interface CpuSpent {
  /** Processor time that it had, of all its threads. */
  readonly workedMs: number;
  /** Time in which it had nothing to do, or hung. */
  readonly idleMs: number;
}

/**
 * Tells how a process spends its time, so that one that is starved by others is not taken for one that hangs. On Linux; elsewhere all time
 * counts as idle.
 */
export class CpuMeter {
  readonly #pid: number | undefined;
  #seenMs = performance.now();
  #totalMs: number;

  constructor(pid: number | undefined) {
    this.#pid = pid;
    this.#totalMs = this.#look()?.totalMs ?? 0;
  }

  /** What was spent since the last call. */
  take(): CpuSpent {
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
    const fields = statFields(this.#pid);
    return fields && { state: fields[0] ?? '', totalMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
  }
}

/** What the kernel says of a process in `/proc/PID/stat` behind its name: its state first, its user time as the 12th field, its start time as the 20th. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold spaces and brackets; what follows its last `)` is fixed (proc(5)).
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
