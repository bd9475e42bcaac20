import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../schemas/errors.js';
import { confine, hostEnvironment } from './environment.js';
import { type FromHost, fromWire, type ToHost } from './protocol.js';
import { Tail } from './tail.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
/** Characters of the host's output that are kept for messages. */
const TAIL_LIMIT = 8192;
const TAIL_LINES = 3;
const START_LIMIT_MS = 30_000;
/** Room for new objects in MiB. V8's own bound of 16, three times over, fills with garbage in every host that has much to say, and stays. */
const YOUNG_SPACE = '--max-semi-space-size=4';
/** Time for an orderly end before the process is killed. */
const CLOSE_LIMIT_MS = 5_000;
/** A host that stays silent over this many pings is killed; counted in ticks, so that a suspended machine is not a silent host. */
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
  /** Options of the process's Node, such as the bound of its heap; they go before the usual ones. */
  readonly execArgv?: readonly string[];
}

/** Processes that have not ended. One that is stuck must not outlive a daemon that gave up waiting for it. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

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
  /** From when it is ready; before, the limit of its start counts. */
  #watchdog: NodeJS.Timeout | undefined;
  /** Settles when the process has ended and its memory is back. */
  readonly exited: Promise<void>;
  #nextId = 1;
  #silentPings = 0;
  #ended: Failure | undefined;
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
    const late = setTimeout(() => this.kill(`was not ready within ${START_LIMIT_MS / 1000} s`), START_LIMIT_MS);
    this.ready = new Promise<unknown>((resolve, reject) => {
      this.#started = { resolve, reject };
    }).finally(() => clearTimeout(late));
    this.ready.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#ended === undefined && !this.#closing;
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
    this.#silentPings = 0;
    if (message.type === 'event') {
      this.#options.onEvent(message.value);
    } else if (message.type === 'ready') {
      this.#started.resolve(undefined);
      this.#watchdog = setInterval(() => this.#ping(), this.#options.pingIntervalMs ?? PING_INTERVAL_MS).unref();
    } else if (message.type !== 'pong') {
      const pending = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.type === 'result') pending?.resolve(message.value);
      else pending?.reject(fromWire(message.failure));
    }
  }

  #ping(): void {
    if (this.#silentPings >= SILENT_PINGS) {
      this.kill(`gave no sign of life for ${this.#silentPings} pings`);
      return;
    }
    this.#silentPings += 1;
    this.#send({ type: 'ping' });
  }

  #end(code: number | null, signal: NodeJS.Signals | null, spawnError?: string): void {
    if (this.#ended) return;
    clearInterval(this.#watchdog);
    living.delete(this.#child);
    const how = spawnError ?? (this.#killReason || (signal ? `was ended by ${signal}` : `exited with code ${code}`));
    const last = this.#output.lastLines(TAIL_LINES);
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
