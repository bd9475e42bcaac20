import { log } from '../../runtime/base/log.js';

/** So many errors that nobody caught, within this time, mean that something is broken for good. */
const STRAY_LIMIT = 20;
const WINDOW_MS = 60_000;

/** Counts what happened within the last minute. `now` is a monotonic clock in milliseconds. */
export function strayCounter(now: () => number = () => performance.now()): () => boolean {
  let times: number[] = [];
  return () => {
    const time = now();
    times = [...times.filter((other) => other > time - WINDOW_MS), time];
    return times.length > STRAY_LIMIT;
  };
}

/**
 * Keeps the daemon alive through errors that nobody caught: each is logged with its cause and concerns the one request that it came from,
 * which the time limit ends; what was acknowledged is on disk. More than 20 within a minute call `end`, since then no request may work.
 * A closed output, such as that of `quern start | head`, is no reason to end either: without its reader the daemon goes on in silence.
 */
export function surviveStrayErrors(end: (reason: string) => void): void {
  const tooMany = strayCounter();
  let ending = false;
  const stray = (kind: string, error: unknown): void => {
    log('error', `${kind}; the daemon goes on`, { error: error instanceof Error ? error : String(error) });
    // A second call would cut off the requests that still end well.
    if (ending || !tooMany()) return;
    ending = true;
    end(`more than ${STRAY_LIMIT} errors that nobody caught within ${WINDOW_MS / 1000} s`);
  };
  process.on('uncaughtException', (error) => stray('an error that nobody caught', error));
  process.on('unhandledRejection', (reason) => stray('a rejection that nobody handled', reason));
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
}
