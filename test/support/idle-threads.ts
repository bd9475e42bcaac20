import { readdirSync, readFileSync } from 'node:fs';

/** SCHED_IDLE of sched(7). */
const IDLE_POLICY = '5';
/** Less than this is a thread that goes to sleep again. */
const WORK_NS = 500_000;

/** The time that each thread of this process has run, in nanoseconds, of those that only get cores that nothing else wants (field 41 of proc_pid_stat(5)). */
function idlersNs(): Map<string, number> {
  const found = new Map<string, number>();
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      if (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38] !== IDLE_POLICY) continue;
      found.set(thread, Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ')[0]));
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

/** Whether one of them worked during a call; they are kept for the next one. Linux only. */
export async function idledDuring(call: () => Promise<unknown>): Promise<boolean> {
  const before = idlersNs();
  await call();
  return [...idlersNs()].some(([thread, ns]) => ns - (before.get(thread) ?? 0) > WORK_NS);
}
