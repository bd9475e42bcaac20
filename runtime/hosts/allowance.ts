import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { log } from '../base/log.js';

const KIBIBYTE = 1024;

/** A bound as the system has it: bytes, or `unlimited`. */
interface Bound {
  readonly soft: string;
  readonly hard: string;
}

/** Pieces of work that are under way, and what they may take together. */
let under = 0;
let allowedBytes = 0;
/** As it was before them. */
let usual: Bound | undefined;
/** Changes of the bound, one after the other. */
let last: Promise<void> = Promise.resolve();

/**
 * Works while this process may take at most so many bytes of memory beyond what it has: what asks for more is refused it, and the machine keeps the rest.
 * Where several such works overlap they share what they may take. For host processes: the bound is the whole process's. On Linux with `prlimit`; elsewhere
 * nothing is bounded.
 */
export async function withAllowance<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  if (under === 0) usual = presentBound();
  under += 1;
  allowedBytes += bytes;
  await change(() => takenBytes() + allowedBytes);
  try {
    return await work();
  } finally {
    under -= 1;
    if (under === 0) {
      allowedBytes = 0;
      await change(() => undefined);
    }
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Memory of this process that it alone can write to, which is what the bound counts. */
const takenBytes = (): number => Number(/^VmData:\s+(\d+) kB$/m.exec(read('/proc/self/status'))?.[1] ?? 0) * KIBIBYTE;

function presentBound(): Bound | undefined {
  const [, soft, hard] = /^Max data size\s+(\S+)\s+(\S+)/m.exec(read('/proc/self/limits')) ?? [];
  return soft === undefined || hard === undefined ? undefined : { soft, hard };
}

/** Sets the soft bound, to what it was for undefined; never beyond that. The hard one stays, so that it can be lifted again. */
function change(wanted: () => number | undefined): Promise<void> {
  last = last.then(() => {
    if (!usual) return undefined;
    const bytes = wanted();
    const soft = bytes === undefined || Number(usual.soft) <= bytes ? usual.soft : String(bytes);
    return set(`${soft}:${usual.hard}`);
  });
  return last;
}

function set(limits: string): Promise<void> {
  return new Promise((resolve) => {
    execFile('prlimit', ['--pid', String(process.pid), `--data=${limits}`], (error) => {
      if (error)
        log('warn', 'the memory that a model may take while it is opened could not be bounded, or not be freed again', { error, limits });
      resolve();
    });
  });
}
