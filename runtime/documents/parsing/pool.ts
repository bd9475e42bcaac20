import { readFile } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import { Host, type HostEnding } from '../../hosts/host.js';
import { CpuMeter } from '../../hosts/processes.js';

const MEBIBYTE = 1024 * 1024;
const WATCH_INTERVAL_MS = 100;
/** A host ends after this many files, so that what a library keeps does not add up. */
const FILES_PER_HOST = 200;
const WAITING_LIMIT = 10_000;
/** What V8 prints when its heap is full. */
const OUT_OF_MEMORY = /out of memory|Allocation failed/i;
/** Share of a host's memory that its JavaScript heap may take; the rest is for buffers and WebAssembly. */
const HEAP_SHARE = 0.75;

/** Bounds of a pool. */
export interface PoolOptions {
  /** Module that exports `openEngine`. */
  readonly engine: URL;
  readonly hosts: number;
  /** Resident memory of one host, after which it is ended. */
  readonly memoryBytes: number;
  /** Time that one call may take: the processor time that its host has, and the time in which it stands still. Waiting for a processor is free. */
  readonly timeoutMs: number;
  /** Time after which a host without work ends. */
  readonly idleMs: number;
  /** How often a host is asked for a sign of life. */
  readonly pingIntervalMs?: number;
}

interface Slot {
  host: Host | undefined;
  files: number;
  idle: NodeJS.Timeout | undefined;
}

interface Waiting {
  readonly give: (slot: Slot) => void;
  readonly refuse: (reason: unknown) => void;
}

/** Resident memory of a process in bytes; undefined where the system does not tell. */
async function residentBytes(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/**
 * Processes that each read one file at a time. A file that takes too long, needs too much memory or crashes its process fails with a reason
 * that names it; the process is replaced and the other files go on.
 */
export class HostPool {
  readonly #options: PoolOptions;
  readonly #slots: Slot[];
  readonly #free: Slot[];
  readonly #waiting: Waiting[] = [];
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.hosts }, () => ({ host: undefined, files: 0, idle: undefined }));
    this.#free = [...this.#slots];
  }

  /** Process ids of the hosts that run, for tests and status. */
  get pids(): number[] {
    return this.#slots.flatMap((slot) => slot.host?.pid ?? []);
  }

  /** Asks a free host. `name` is the file's, for messages. An aborted signal ends the host's work at once. */
  async call<T>(method: string, body: unknown, name: string, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const slot = await this.#take(signal);
    try {
      return await this.#run<T>(slot, method, body, name, signal);
    } finally {
      this.#release(slot);
    }
  }

  /** Refuses what waits and ends the hosts. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) waiting.refuse(closing());
    await Promise.all(
      this.#slots.map(async (slot) => {
        clearTimeout(slot.idle);
        slot.host?.kill('was stopped');
        await slot.host?.exited;
      }),
    );
  }

  #take(signal: AbortSignal): Promise<Slot> {
    if (this.#closed) return Promise.reject(closing());
    const free = this.#free.pop();
    if (free) return Promise.resolve(free);
    if (this.#waiting.length >= WAITING_LIMIT)
      return Promise.reject(new Failure('busy', `${WAITING_LIMIT} files wait to be read; try again later.`, { retryAfterS: 10 }));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        give: (slot) => {
          signal.removeEventListener('abort', leave);
          resolve(slot);
        },
        refuse: reject,
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #release(slot: Slot): void {
    const next = this.#waiting.shift();
    if (next) {
      next.give(slot);
      return;
    }
    this.#free.push(slot);
    slot.idle = setTimeout(() => this.#retire(slot), this.#options.idleMs);
    slot.idle.unref();
  }

  #retire(slot: Slot): void {
    const { host } = slot;
    slot.host = undefined;
    slot.files = 0;
    host?.close().catch(() => {});
  }

  #hostOf(slot: Slot): Host {
    clearTimeout(slot.idle);
    if (slot.files >= FILES_PER_HOST) this.#retire(slot);
    slot.files += 1;
    if (slot.host?.alive) return slot.host;
    const heapMebibytes = Math.floor((this.#options.memoryBytes * HEAP_SHARE) / MEBIBYTE);
    slot.files = 1;
    slot.host = new Host({
      name: 'a parse host',
      engine: this.#options.engine,
      // Documents are read in one go by a process that ends soon: room for new objects is time.
      execArgv: [`--max-old-space-size=${heapMebibytes}`, '--max-semi-space-size=16'],
      worksSilently: true,
      ...(this.#options.pingIntervalMs === undefined ? {} : { pingIntervalMs: this.#options.pingIntervalMs }),
      onEvent: () => {},
      onExit: () => {},
    });
    return slot.host;
  }

  async #run<T>(slot: Slot, method: string, body: unknown, name: string, signal: AbortSignal): Promise<T> {
    const host = this.#hostOf(slot);
    let reason: Failure | undefined;
    // The next file must not be given to a process that is on its way out.
    const drop = (why: string): void => {
      if (slot.host === host) slot.host = undefined;
      host.kill(why);
    };
    const end = (why: Failure): void => {
      reason ??= why;
      drop(why.message);
    };
    const onAbort = (): void => drop('was told to stop');
    signal.addEventListener('abort', onAbort, { once: true });
    let watch: NodeJS.Timeout | undefined;
    try {
      await host.ready;
      const meter = { effort: new CpuMeter(host.pid), spentMs: 0 };
      watch = setInterval(() => void this.#watch(host, meter, name, end), WATCH_INTERVAL_MS);
      return await host.call<T>(method, body, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (reason) throw reason;
      if (this.#closed || !host.ending || !(error instanceof Failure && error.code === 'engine_crashed')) throw error;
      log('warn', error.message, { file: name, ...(error.cause instanceof Error ? { output: error.cause.message } : {}) });
      throw this.#endedBy(host.ending, name, error);
    } finally {
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #watch(
    host: Host,
    meter: { readonly effort: CpuMeter; spentMs: number },
    name: string,
    end: (why: Failure) => void,
  ): Promise<void> {
    const { memoryBytes, timeoutMs } = this.#options;
    const { workedMs, idleMs } = meter.effort.take();
    meter.spentMs += workedMs + idleMs;
    if (meter.spentMs > timeoutMs)
      end(new Failure('invalid', `${name} was not read within ${timeoutMs / 1000} s; split it.`, { code: 'parse_timed_out' }));
    const bytes = host.pid === undefined ? undefined : await residentBytes(host.pid);
    if (bytes !== undefined && bytes > memoryBytes) end(this.#needsMemory(name));
  }

  #needsMemory(name: string, cause?: unknown): Failure {
    const mebibytes = Math.floor(this.#options.memoryBytes / MEBIBYTE);
    return new Failure('invalid', `${name} needs more than the ${mebibytes} MiB of memory that reading may take; split it.`, {
      code: 'parse_memory',
      cause,
    });
  }

  /** Why a file was not read whose host ended under it, from how it ended. */
  #endedBy({ killedFor, signal, code, output }: HostEnding, name: string, cause: unknown): Failure {
    if (OUT_OF_MEMORY.test(output)) return this.#needsMemory(name, cause);
    if (killedFor !== '')
      return new Failure('unavailable', `${name} was not read: the process that reads it ${killedFor}; try again.`, {
        code: 'parser_stuck',
        retryAfterS: 1,
        cause,
      });
    // Nobody ends a process so but the system, when memory runs out, or a person.
    const how =
      signal === 'SIGKILL'
        ? 'was ended from outside, as the system does when memory runs out; try again'
        : `crashed (${signal ?? `code ${code}`}); its content may be damaged`;
    return new Failure('invalid', `${name} was not read: the process that reads it ${how}.`, { code: 'parser_crashed', cause });
  }
}

function closing(): Failure {
  return new Failure('unavailable', 'The daemon is closing; try again.', { retryAfterS: 1 });
}
