import { readdirSync, readFileSync } from 'node:fs';

/** What `/proc` says of a process in one of its files; empty where the process is gone, or nobody has waited for it yet. */
function told(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** State and parent of a process, by `/proc/PID/stat` behind its name, which may hold spaces and brackets. */
function statOf(pid: number): { state: string; parent: number } {
  const stat = told(pid, 'stat');
  const [state = 'X', parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: stat === '' ? 'X' : state, parent: Number(parent) };
}

/** Whether a process has ended. One that nobody has waited for is gone all the same: in a container that may last for ever. */
export const isGone = (pid: number): boolean => 'ZX'.includes(statOf(pid).state);

/** The processes that a process started and that run, whose command line says `what`; Linux only, as all of this file. */
export const childrenOf = (pid: number, what: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => statOf(one).parent === pid && !isGone(one) && told(one, 'cmdline').includes(what));
