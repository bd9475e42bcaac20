import { readFileSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';

const MEBIBYTE = 1024 * 1024;
/** More threads bring llama.cpp little and take from the rest of the machine. */
const THREAD_LIMIT = 8;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function bytes(path: string): number | undefined {
  const text = read(path)?.trim();
  return text === undefined || text === '' || text === 'max' ? undefined : Number(text);
}

/** What a control group leaves: its limit less what it uses, page cache that can be dropped not counted. Undefined without a limit. */
function groupAvailable(root: string, limitName: string, usageName: string, cacheName: string): number | undefined {
  const limit = bytes(`${root}/${limitName}`);
  const usage = bytes(`${root}/${usageName}`);
  // Version 1 writes a number near 2^63 for "no limit".
  if (limit === undefined || usage === undefined || limit > Number.MAX_SAFE_INTEGER) return undefined;
  const cache = Number(new RegExp(`^${cacheName} (\\d+)$`, 'm').exec(read(`${root}/memory.stat`) ?? '')?.[1] ?? 0);
  return Math.max(0, limit - Math.max(0, usage - cache));
}

/** Memory that can be had without swapping, in bytes: the system's estimate, cut by the limits of the control group. */
export function availableMemory(): number {
  if (process.platform !== 'linux') return process.availableMemory?.() ?? freemem();
  const kibibytes = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '')?.[1] ?? 0);
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
