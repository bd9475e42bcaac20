import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { log } from '../base/log.js';

/** Memory that can be had without swapping, in bytes: the system's estimate, cut by the limits of the control group. */
export function availableMemory(): number {
  if (process.platform !== 'linux') return process.availableMemory?.() ?? freemem();
  const kibibytes = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(readText('/proc/meminfo') ?? '')?.[1] ?? 0);
  const known = [
    kibibytes > 0 ? kibibytes * 1024 : 4096 * MEBIBYTE,
    groupAvailable('/sys/fs/cgroup', 'memory.max', 'memory.current', 'inactive_file'),
    groupAvailable('/sys/fs/cgroup/memory', 'memory.limit_in_bytes', 'memory.usage_in_bytes', 'total_inactive_file'),
  ];
  return Math.min(...known.filter((value) => value !== undefined));
}

/**
 * Threads of one engine: one core stays free for the gateway and the rest of the machine, at two cores too. There, the second thread gives
 * 1.6 times the tokens/s on an idle machine (54M model, Q8_0: 86-90 -> 143-153 for one stream), but the threads wait for each other after every
 * matrix, so that one busy program beside them costs most of it (6-26 with two threads, 33-94 with one). `n_threads` chooses otherwise.
 */
export function defaultThreads(cores: number = availableParallelism()): number {
  return Math.max(1, Math.min(THREAD_LIMIT, cores - 1));
}

const MEBIBYTE = 1024 * 1024;
/** More threads bring llama.cpp little and take from the rest of the machine. */
const THREAD_LIMIT = 8;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readBytes(path: string): number | undefined {
  const text = readText(path)?.trim();
  return text === undefined || text === '' || text === 'max' ? undefined : Number(text);
}

/** What a control group leaves: its limit less what it uses, page cache that can be dropped not counted. Undefined without a limit. */
function groupAvailable(root: string, limitName: string, usageName: string, cacheName: string): number | undefined {
  const limit = readBytes(`${root}/${limitName}`);
  const usage = readBytes(`${root}/${usageName}`);
  // Version 1 writes a number near 2^63 for "no limit".
  if (limit === undefined || usage === undefined || limit > Number.MAX_SAFE_INTEGER) return undefined;
  const cache = Number(new RegExp(`^${cacheName} (\\d+)$`, 'm').exec(readText(`${root}/memory.stat`) ?? '')?.[1] ?? 0);
  return Math.max(0, limit - Math.max(0, usage - cache));
}

/** A bound as the system has it: bytes, or `unlimited`. */
interface Bound {
  readonly soft: string;
  readonly hard: string;
}

/** Pieces of work that are under way, and what they may take together. */
let limitedCount = 0;
let allowedBytes = 0;
/** As it was before them. */
let usualBound: Bound | undefined;
/** Changes of the bound, one after the other. */
let lastChange: Promise<void> = Promise.resolve();

/**
 * Works while this process may take at most so many bytes of memory beyond what it has: what asks for more is refused it, and the machine keeps the rest.
 * Where several such works overlap they share what they may take. For host processes: the bound is the whole process's. On Linux with `prlimit`; elsewhere
 * nothing is bounded.
 */
export async function withMemoryLimit<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  if (limitedCount === 0) usualBound = presentBound();
  limitedCount += 1;
  allowedBytes += bytes;
  await changeMemoryLimit(() => takenBytes() + allowedBytes);
  try {
    return await work();
  } finally {
    limitedCount -= 1;
    if (limitedCount === 0) {
      allowedBytes = 0;
      await changeMemoryLimit(() => undefined);
    }
  }
}

/** Memory of this process that it alone can write to, which is what the bound counts. */
const takenBytes = (): number => Number(/^VmData:\s+(\d+) kB$/m.exec(readText('/proc/self/status') ?? '')?.[1] ?? 0) * 1024;

function presentBound(): Bound | undefined {
  const [, soft, hard] = /^Max data size\s+(\S+)\s+(\S+)/m.exec(readText('/proc/self/limits') ?? '') ?? [];
  return soft === undefined || hard === undefined ? undefined : { soft, hard };
}

/** Sets the soft bound, to what it was for undefined; never beyond that. The hard one stays, so that it can be lifted again. */
function changeMemoryLimit(wanted: () => number | undefined): Promise<void> {
  lastChange = lastChange.then(() => {
    if (!usualBound) return undefined;
    const bytes = wanted();
    const soft = bytes === undefined || Number(usualBound.soft) <= bytes ? usualBound.soft : String(bytes);
    return setMemoryLimit(`${soft}:${usualBound.hard}`);
  });
  return lastChange;
}

function setMemoryLimit(limits: string): Promise<void> {
  return new Promise((resolve) => {
    execFile('prlimit', ['--pid', String(process.pid), `--data=${limits}`], (error) => {
      if (error)
        log('warn', 'the memory that a model may take while it is opened could not be bounded, or not be freed again', { error, limits });
      resolve();
    });
  });
}
