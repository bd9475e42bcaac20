// Preloaded into a daemon under measurement (`node --import`): reports the event-loop delay to the parent on request, and on nothing else.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();
process.on('message', (message: { probe?: 'reset' | 'read' }) => {
  if (message.probe === 'reset') histogram.reset();
  // The histogram counts the timer's own period; what is over it is the delay.
  if (message.probe)
    process.send?.({
      result: {
        p50Ms: histogram.percentile(50) / 1e6 - RESOLUTION_MS,
        p99Ms: histogram.percentile(99) / 1e6 - RESOLUTION_MS,
        maxMs: histogram.max / 1e6 - RESOLUTION_MS,
      },
    });
});
process.channel?.unref();
