import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';
import { Failure } from '../../schemas/errors.js';

/** For a job that was not done in time because this thread had no core. */
const PATIENT_LIMIT_MS = 10_000;
/** Of the limit, what a thread that is kept from running computes at most; endless loops take nearly all of it. */
const BUSY_SHARE = 0.5;

/** The time limit of `vm` ends any JavaScript below it, whatever module it comes from, and the search of a regular expression. */
const sandbox = createContext({ job: undefined as (() => unknown) | undefined });
const call = new Script('job()');

function withTimeout<T>(job: () => T, timeout: number): T {
  if (sandbox.job) return job();
  sandbox.job = job;
  try {
    return call.runInContext(sandbox, { timeout }) as T;
  } finally {
    sandbox.job = undefined;
  }
}

/** Whether an error says that a job took longer than `limited` allowed. */
export const isTimeout = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** What this thread has computed since it began, in milliseconds; other threads of a host compute meanwhile. Of the whole process where the system does not tell. */
function computedMs(): number {
  try {
    return Number.parseInt(readFileSync('/proc/thread-self/schedstat', 'latin1'), 10) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/**
 * Runs what untrusted text may keep busy without end; inside of such a job the outer limit holds. `what` says in messages what is being done. Throws an error that `isTimeout`
 * knows when the job computes for longer than `limitMs`, and `Failure('busy')` where the machine gives this thread no time. The limit counts time by the clock:
 * where the thread was kept from running meanwhile, the job gets a second, longer chance. About 0.1 ms a call.
 */
export function runWithTimeLimit<T>(job: () => T, limitMs: number, what: string): T {
  const before = computedMs();
  const hasRun = (longMs: number): boolean => computedMs() - before > longMs;
  try {
    return withTimeout(job, Math.ceil(limitMs));
  } catch (error) {
    if (!isTimeout(error) || hasRun(limitMs * BUSY_SHARE)) throw error;
  }
  try {
    return withTimeout(job, PATIENT_LIMIT_MS);
  } catch (error) {
    if (!isTimeout(error) || hasRun(limitMs)) throw error;
    throw new Failure('busy', `This machine is too busy to ${what}; try again when it has less to do.`, { retryAfterS: 5, cause: error });
  }
}
