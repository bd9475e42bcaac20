import { setTimeout as wait } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';

/** Tries in a row that bring nothing before a request is given up. */
export const TRIES = 6;
const LONGEST_PAUSE_MS = 30_000;
/** A server may ask for a longer pause than ours, up to this. */
const LONGEST_ASKED_S = 120;
const PASSING = new Set([
  ...['HubBusy', 'HubFailed', 'DownloadCut', 'DownloadMismatch'],
  ...['ConnectFailed', 'ConnectTimeout', 'ConnectionLost', 'ResponseTimeout', 'IdleTimeout', 'TotalTimeout', 'BadResponse'],
]);

/** True for failures that another try may not meet. */
export function isPassing(error: unknown): error is Failure {
  return error instanceof Failure && PASSING.has(error.code);
}

/** Waits before try number `tried + 1`: as long as the server asked for, else twice as long each time, with a random share. */
export async function pause(tried: number, pauseMs: number, error: unknown, signal: AbortSignal): Promise<void> {
  const asked = error instanceof Failure && error.retryAfterS !== undefined ? Math.min(error.retryAfterS, LONGEST_ASKED_S) * 1000 : 0;
  const own = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 ** (tried - 1)) * (0.5 + Math.random() / 2);
  await wait(Math.max(asked, own), undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** Runs `act` until it succeeds, fails for good, is asked for a longer pause than somebody would wait for, or has failed `TRIES` times. */
export async function patiently<T>(act: () => Promise<T>, pauseMs: number, signal: AbortSignal): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !isPassing(error) || tried >= TRIES || (error.retryAfterS ?? 0) > LONGEST_ASKED_S) throw error;
      await pause(tried, pauseMs, error, signal);
    }
  }
}
