import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

const KIBIBYTE = 1024;

/** Pieces of work that are under way, and what they may take together. */
let under = 0;
let allowedBytes = 0;

/**
 * Works while this process may take at most so many bytes of memory beyond what it has: what asks for more is refused it, and the machine keeps the rest.
 * Where several such works overlap they share what they may take. For host processes: the bound is the whole process's. On Linux with `prlimit`; elsewhere
 * nothing is bounded.
 */
export async function withAllowance<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  under += 1;
  allowedBytes += bytes;
  await bound(takenBytes() + allowedBytes);
  try {
    return await work();
  } finally {
    under -= 1;
    if (under === 0) {
      allowedBytes = 0;
      await bound(undefined);
    }
  }
}

/** Memory of this process that it alone can write to, which is what the bound counts. */
function takenBytes(): number {
  try {
    return Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * KIBIBYTE;
  } catch {
    return 0;
  }
}

/** Sets the soft bound, which may be lifted again. */
function bound(bytes: number | undefined): Promise<void> {
  if (process.platform !== 'linux') return Promise.resolve();
  return new Promise((resolve) => {
    execFile('prlimit', ['--pid', String(process.pid), `--data=${bytes ?? 'unlimited'}:`], () => resolve());
  });
}
