// Preloaded into a daemon under measurement (`node --import`): reports the event-loop delay, or what its heap holds, to the parent on request,
// and does nothing else.
import { readFileSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const RESOLUTION_MS = 1;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();

/** Processor time of the main thread between two looks at the clock: what the loop itself is late by, whatever else the machine does. */
const own = createHistogram();
const ownNs = (): number => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]);
let watching = false;

function watchOwn(): void {
  own.reset();
  if (watching) return;
  watching = true;
  let before = ownNs();
  const look = (): void => {
    const now = ownNs();
    own.record(Math.max(1, now - before));
    before = now;
  };
  setInterval(look, RESOLUTION_MS).unref();
}

/** What lives in the heap, in MB: it is read after its garbage has been collected. */
function liveMb(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

process.on('message', (message: { probe?: 'reset' | 'read' | 'live' }) => {
  if (message.probe === 'live') return void process.send?.({ result: liveMb() });
  if (message.probe === 'reset') {
    histogram.reset();
    if (process.platform === 'linux') watchOwn();
  }
  // The histogram counts the timer's own period; what is over it is the delay.
  if (message.probe)
    process.send?.({
      result: {
        p50Ms: histogram.percentile(50) / 1e6 - RESOLUTION_MS,
        p99Ms: histogram.percentile(99) / 1e6 - RESOLUTION_MS,
        maxMs: histogram.max / 1e6 - RESOLUTION_MS,
        ownP99Ms: own.percentile(99) / 1e6,
        ownMaxMs: own.max / 1e6,
      },
    });
});
process.channel?.unref();
