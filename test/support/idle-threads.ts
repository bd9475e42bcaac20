import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** SCHED_IDLE of sched(7). */
const IDLE_POLICY = '5';

/** Whether a thread of this process only gets cores that nothing else wants (field 41 of proc_pid_stat(5)). */
function someThreadIdles(): boolean {
  return readdirSync('/proc/self/task').some((thread) => {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38] === IDLE_POLICY;
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

/** Whether one did at a moment of a call. Linux only. */
export async function idledDuring(call: Promise<unknown>): Promise<boolean> {
  const ended = call.then(() => true);
  for (let seen = false; ; ) {
    seen ||= someThreadIdles();
    if (await Promise.race([ended, sleep(1).then(() => false)])) return seen;
  }
}
