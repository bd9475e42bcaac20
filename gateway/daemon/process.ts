import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import { loadCore } from '../../native/loader.js';
import { log } from '../../runtime/base/log.js';

/** New objects have about this much room; V8's own bound is four times as much, twice over, which a busy daemon fills with garbage and keeps. */
const YOUNG_BYTES = 4 * 2 ** 20;
/** The heap may grow by so much of what lives before it is collected; V8 itself waits for up to four times as much. */
const GROWING_PERCENT = 30;

const youngBytes = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;

function stopGrowth(): void {
  if (youngBytes() >= YOUNG_BYTES) setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Keeps the heap of this process near the size of what lives in it. The young space grows as V8 likes up to a bound: its option for that
 * counts at the start of a process only, where the daemon has no say, but how much it grows by is read each time.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  const observer = new PerformanceObserver(() => {
    if (youngBytes() < YOUNG_BYTES) return;
    stopGrowth();
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
  // The start of a thread sets what the young space of all of them grows by back to 2.
  process.on('worker', (worker: Worker) => worker.once('online', stopGrowth));
}

/**
 * Lets this thread, which serves everybody, run as soon as it wakes: beside two threads that compute on two cores, the wait for their turn
 * was longer than all that the thread itself does. Without effect where the system cannot.
 */
export function takeShortTurns(): void {
  try {
    loadCore().takeShortTurns();
  } catch (error) {
    log('warn', 'the native core does not load: what needs it will fail', { error });
  }
}

/** What a signal asks of a daemon that runs. */
export interface SignalActions {
  /** Read again what can be. */
  SIGHUP(): void;
  /** Hand over to another process; Windows has no such signal. */
  SIGUSR2(): void;
}

const NAMES: readonly (keyof SignalActions)[] = process.platform === 'win32' ? ['SIGHUP'] : ['SIGHUP', 'SIGUSR2'];

/** Keeps these signals from ending the process from now on; what they ask waits until the function that it returns is told how it is done. */
export function holdSignals(): (wishes: SignalActions) => void {
  const waiting = new Set<keyof SignalActions>();
  let known: SignalActions | undefined;
  for (const name of NAMES) process.on(name, () => (known ? known[name]() : waiting.add(name)));
  return (wishes) => {
    known = wishes;
    for (const name of waiting) wishes[name]();
  };
}

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
