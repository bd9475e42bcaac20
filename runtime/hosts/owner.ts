import { readFileSync } from 'node:fs';

/** A process that holds something, as it is written into a lock file. */
export interface Owner {
  pid: number;
  /** Start time of that process as the kernel tells it, so that a recycled pid is not mistaken for the owner. */
  started: string;
}

function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name may hold spaces and brackets; the fields after its last `)` are fixed (proc(5)): start time is the 22nd field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A killed process that nobody has waited for yet (in containers perhaps for ever) still has its id and start time, but holds nothing.
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/** This process. */
export const thisProcess = (): Owner => ({ pid: process.pid, started: startTime(process.pid) });

/** Whether a process still runs. */
export function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return owner.started === '' || owner.started === startTime(owner.pid);
}

/** Who holds a lock file; null where there is none or it says nothing. */
export function readOwner(path: string): Owner | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return null;
  }
}
