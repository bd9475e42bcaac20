import { readFileSync } from 'node:fs';

/** Processor time of the main thread in milliseconds; Linux alone tells it apart from that of other threads. */
function mainThreadMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** The longest stretch of processor time in milliseconds for which the event loop was held during some work; undefined where that cannot be told. */
export async function longestHold(work: () => Promise<unknown>): Promise<number | undefined> {
  if (process.platform !== 'linux') {
    await work();
    return undefined;
  }
  let longest = 0;
  let last = mainThreadMs();
  const watch = setInterval(() => {
    const now = mainThreadMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return Math.max(longest, mainThreadMs() - last);
}
