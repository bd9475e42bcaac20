import { readdirSync, readFileSync } from 'node:fs';

/** The processes that a process started, and theirs; Linux only, as all of this file. */
export function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

const statusBytes = (pid: number, line: RegExp): number => Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, /^VmRSS:\s+(\d+) kB$/m);
}

/** Of it what belongs to no file: the pages of files, such as those of the store, come and go as the system likes. */
export function anonymousBytes(pid: number): number {
  return statusBytes(pid, /^RssAnon:\s+(\d+) kB$/m);
}

/** Processor time that a process and all that it started have used, in milliseconds; processes that have ended are not counted. */
export function processorMs(pid: number): number {
  const threads = [pid, ...descendants(pid)].flatMap((one) =>
    readdirSync(`/proc/${one}/task`).map((task) => `/proc/${one}/task/${task}/schedstat`),
  );
  return threads.reduce((sum, path) => sum + Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6, 0);
}

/** A tick of the clock of /proc, in milliseconds. */
const TICK_MS = 10;

/**
 * Processor time of a process, threads that have ended included, and of all processes that it has started and waited for, in milliseconds, to a hundredth of
 * a second.
 */
export function spentMs(pid: number | 'self'): { readonly own: number; readonly waitedFor: number } {
  // Behind the name, which may hold spaces, come eleven numbers before the two of each.
  const numbers = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').map(Number);
  return { own: (numbers[11]! + numbers[12]!) * TICK_MS, waitedFor: (numbers[13]! + numbers[14]!) * TICK_MS };
}
