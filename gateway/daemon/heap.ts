import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

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
