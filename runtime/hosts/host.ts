import { type ChildProcess, execFile, fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../schemas/errors.js';
import { CpuMeter } from './processes.js';
import { type FromHost, fromWire, type ToHost } from './protocol.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
/** Characters of the host's output that are kept for messages. */
const TAIL_LIMIT = 8192;
const TAIL_LINES = 3;
/** The stack that follows a fatal error of V8 has some thirty lines. */
const ENDING_LINES = 60;
/** Time that a start may take, that of waiting for a processor not counted. */
const START_LIMIT_MS = 30_000;
const START_INTERVAL_MS = 1000;
/** Room for new objects in MiB. V8's own bound of 16, three times over, fills with garbage in every host that has much to say, and stays. */
const YOUNG_SPACE = '--max-semi-space-size=4';
/** Time for an orderly end before the process is killed. */
const CLOSE_LIMIT_MS = 5_000;
/**
 * A host that stays silent for the time of this many pings is killed. Counted in ticks, so that a suspended machine is not a silent host, and
 * without the time in which it waits for a processor, so that a busy machine is none.
 */
const PING_INTERVAL_MS = 5_000;
const SILENT_PINGS = 6;
/** Calls that one host may have open. */
const CALL_LIMIT = 4096;

/** How a host is started. */
export interface HostOptions {
  /** What it runs, for messages: "the engine of model x". */
  readonly name: string;
  /** Module that exports `openEngine`. */
  readonly engine: URL;
  readonly onEvent: (value: unknown) => void;
  /** Called once when the process has ended; `expected` after `close()`. */
  readonly onExit: (reason: Failure, expected: boolean) => void;
  readonly pingIntervalMs?: number;
  /** Whether it may work without a sign of life, because its caller bounds the work: it is killed only when it stands still. */
  readonly worksSilently?: boolean;
  /** Options of the process's Node, such as the bound of its heap; they go before the usual ones. */
  readonly execArgv?: readonly string[];
}

/** Processes that have not ended. One that is stuck must not outlive a daemon that gave up waiting for it. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** How a process ended. */
export interface HostEnding {
  /** What it was killed for, by this process; empty where it ended by itself or by others. */
  readonly killedFor: string;
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  /** The last lines that it printed; for the log. */
  readonly output: string;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** One life of one host process. Its death rejects what it was doing with `Failure('unavailable')` and nothing else. */
export class Host {
  readonly #child: ChildProcess;
  readonly #options: HostOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #output = new Tail(TAIL_LIMIT);
  readonly #effort: CpuMeter;
  #watchdog: NodeJS.Timeout;
  /** Settles when the process has ended and its memory is back. */
  readonly exited: Promise<void>;
  #nextId = 1;
  /** Time without a sign of life: of its start, and then since the ping that waits for an answer. */
  #silentMs = 0;
  #isAsked = false;
  #ended: Failure | undefined;
  #ending: HostEnding | undefined;
  #killReason = '';
  #closing = false;
  #started!: Pending;
  /** Settles when the engine module is loaded; rejects when the process ended before. */
  readonly ready: Promise<unknown>;

  /** Starts the process; `ready` tells when it can be called. */
  constructor(options: HostOptions) {
    this.#options = options;
    this.#child = fork(CHILD, [options.engine.href], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [YOUNG_SPACE, ...(options.execArgv ?? [])],
      env: hostEnvironment(process.env),
    });
    living.add(this.#child);
    if (this.#child.pid !== undefined) confine(this.#child.pid);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => this.#output.add(text));
    this.exited = new Promise((resolve) => {
      // 'close' comes after 'exit' and after the output is read; 'error' alone where the process could not be started.
      this.#child.on('close', (code, signal) => resolve(this.#end(code, signal)));
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) resolve(this.#end(null, null, error.message));
      });
    });
    this.#child.on('message', (message) => this.#receive(message as FromHost));
    this.#effort = new CpuMeter(this.#child.pid);
    this.#watchdog = setInterval(() => this.#watchStart(), START_INTERVAL_MS).unref();
    this.ready = new Promise<unknown>((resolve, reject) => {
      this.#started = { resolve, reject };
    });
    this.ready.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#ended === undefined && !this.#closing;
  }

  /** How it ended; undefined while it lives. */
  get ending(): HostEnding | undefined {
    return this.#ending;
  }

  /** Asks the engine. An aborted signal rejects with its reason at once and tells the engine. */
  call<T>(method: string, body: unknown, signal?: AbortSignal): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#pending.size >= CALL_LIMIT) {
      return Promise.reject(
        new Failure('busy', `${this.#options.name} has ${CALL_LIMIT} calls open; try again later.`, { retryAfterS: 1 }),
      );
    }
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => {
        this.#pending.delete(id);
        this.#send({ type: 'cancel', id });
        reject(signal!.reason);
      };
      const settle =
        <V>(then: (value: V) => void) =>
        (value: V) => {
          signal?.removeEventListener('abort', onAbort);
          then(value);
        };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, { resolve: settle(resolve as (value: unknown) => void), reject: settle(reject) });
      this.#send({ type: 'call', id, method, body });
    });
  }

  /** Ends the process in order, or by force after 5 s; resolves when it is gone. */
  async close(): Promise<void> {
    if (!this.#closing && !this.#ended) {
      this.#closing = true;
      this.#send({ type: 'close' });
      const force = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_LIMIT_MS);
      force.unref();
      void this.exited.then(() => clearTimeout(force));
    }
    await this.exited;
  }

  /** Ends the process at once. */
  kill(reason: string): void {
    this.#killReason = reason;
    this.#child.kill('SIGKILL');
  }

  #send(message: ToHost): void {
    // A dead channel is reported by 'close'; the callback only keeps the error from being thrown as an event.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #receive(message: FromHost): void {
    this.#silentMs = 0;
    this.#isAsked = false;
    if (message.type === 'event') {
      this.#options.onEvent(message.value);
    } else if (message.type === 'ready') {
      this.#started.resolve(undefined);
      clearInterval(this.#watchdog);
      this.#watchdog = setInterval(() => this.#ping(), this.#pingMs).unref();
    } else if (message.type !== 'pong') {
      const pending = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.type === 'result') pending?.resolve(message.value);
      else pending?.reject(fromWire(message.failure));
    }
  }

  get #pingMs(): number {
    return this.#options.pingIntervalMs ?? PING_INTERVAL_MS;
  }

  #watchStart(): void {
    const { workedMs, idleMs } = this.#effort.take();
    this.#silentMs += workedMs + Math.min(idleMs, START_INTERVAL_MS);
    if (this.#silentMs >= START_LIMIT_MS) this.kill(`was not ready within ${START_LIMIT_MS / 1000} s`);
  }

  #ping(): void {
    const { workedMs, idleMs } = this.#effort.take();
    if (this.#isAsked) {
      if (this.#options.worksSilently === true && workedMs > 0) this.#silentMs = 0;
      else this.#silentMs += Math.min(idleMs + workedMs, this.#pingMs);
      if (this.#silentMs >= SILENT_PINGS * this.#pingMs) this.kill(`gave no sign of life for ${Math.round(this.#silentMs / 1000)} s`);
      return;
    }
    this.#isAsked = true;
    this.#send({ type: 'ping' });
  }

  #end(code: number | null, signal: NodeJS.Signals | null, spawnError?: string): void {
    if (this.#ended) return;
    clearInterval(this.#watchdog);
    living.delete(this.#child);
    const how = spawnError ?? (this.#killReason || (signal ? `was ended by ${signal}` : `exited with code ${code}`));
    const last = this.#output.lastLines(TAIL_LINES);
    this.#ending = { killedFor: this.#killReason, signal, code, output: this.#output.lastLines(ENDING_LINES) };
    const reason = new Failure('unavailable', `The engine process of ${this.#options.name} ${how}; try again.`, {
      code: 'engine_crashed',
      retryAfterS: 1,
      // What the engine printed may hold paths of the machine: for the log only.
      cause: last === '' ? undefined : new Error(last),
    });
    this.#ended = reason;
    this.#started.reject(reason);
    for (const pending of this.#pending.values()) pending.reject(reason);
    this.#pending.clear();
    this.#options.onExit(reason, this.#closing);
  }
}

/** Keeps the end of a stream's text: at most `limit` characters. */
class Tail {
  #text = '';
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    this.#text = (this.#text + text).slice(-this.#limit);
  }

  /** The last lines that are not empty, joined to one line; empty when nothing was written. */
  lastLines(count: number): string {
    return this.#text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-count)
      .join(' / ');
  }
}

/** Variables that an engine may need: the system's, and those of libraries and devices. Keys and tokens of the daemon stay out (threat T33). */
const PASSED =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMP|TEMP|TMPDIR|SystemRoot|windir|NODE_V8_COVERAGE|LOG_LEVEL|LD_LIBRARY_PATH|DYLD_\w+|(CUDA|NVIDIA|VK|GGML|LLAMA|HIP|ROCR|HSA|ORT|OMP|QUERN)_\w+)$/;
const SECRET = /KEY|TOKEN|SECRET|PASSWORD/i;
/** How much likelier than the daemon the kernel ends a host when memory is short; 0 to 1000. */
const OOM_SCORE = '500';

/** The environment of a host process. */
function hostEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(own).filter(([name]) => PASSED.test(name) && !SECRET.test(name)));
}

/** On Linux: no core dumps, and the kernel's memory killer prefers the host to the daemon. What cannot be set is left. */
function confine(pid: number): void {
  if (process.platform !== 'linux') return;
  writeFile(`/proc/${pid}/oom_score_adj`, OOM_SCORE).catch(() => {});
  execFile('prlimit', ['--pid', String(pid), '--core=0:0'], () => {});
}
