import { setTimeout as delay } from 'node:timers/promises';
import { Failure, type FailureKind } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import { orAborted } from '../base/loop.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import { Host } from './host.js';

/** How a supervised host is kept. */
export interface SupervisorOptions<Opened> {
  readonly name: string;
  readonly engine: URL;
  readonly circuit: CircuitBreaker;
  /** Makes a fresh process ready, such as by loading the model; called once per life. */
  readonly open: (host: Host) => Promise<Opened>;
  readonly onEvent?: (host: Host, value: unknown) => void;
  /** How often the process is asked for a sign of life; for engines that are silent for long. */
  readonly pingIntervalMs?: number;
  /** Called when a life ended, expected or not. */
  readonly onExit?: (host: Host, reason: Failure) => void;
}

/** A process that is ready, and what opening it gave. */
export interface Life<Opened> {
  readonly host: Host;
  readonly opened: Opened;
}

interface Run<Opened> {
  host?: Host;
  opened: boolean;
  promise: Promise<Life<Opened>>;
}

/** Keeps one host process running: a crash fails only what it was doing, and a new process starts after a back-off unless the circuit is open. */
export class Supervisor<Opened> {
  readonly #options: SupervisorOptions<Opened>;
  readonly #closing = new AbortController();
  /** Every process that has not ended; more than one only while an old one goes. */
  readonly #hosts = new Set<Host>();
  #run: Run<Opened> | undefined;

  constructor(options: SupervisorOptions<Opened>) {
    this.#options = options;
  }

  /** The process id of the present life, for tests and status. */
  get pid(): number | undefined {
    return this.#run?.host?.pid;
  }

  /**
   * A ready process; starts one where none runs. Throws `Failure('unavailable')` while the circuit is open, and what opening throws; a caller
   * whose signal is aborted does not wait for a restart.
   */
  async ready(signal?: AbortSignal): Promise<Life<Opened>> {
    signal?.throwIfAborted();
    this.#assertOpen();
    if (!this.#run) this.#options.circuit.check();
    const { promise } = this.#run ?? this.#begin();
    return signal ? orAborted(promise, signal) : promise;
  }

  /** The first life of an engine: where it cannot be opened, or `stop` is aborted meanwhile, everything is closed before this throws. */
  async first(stop: AbortSignal): Promise<Opened> {
    const close = (): void => void this.close();
    stop.addEventListener('abort', close, { once: true });
    try {
      stop.throwIfAborted();
      return (await this.ready()).opened;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      stop.removeEventListener('abort', close);
    }
  }

  /** Ends the process; resolves when it is gone. */
  async close(): Promise<void> {
    this.#closing.abort();
    // A load cannot be asked to stop.
    if (this.#run && !this.#run.opened) this.#run.host?.kill('was stopped while it loaded');
    await Promise.all([...this.#hosts].map((host) => host.close()));
    await this.#run?.promise.catch(() => {});
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted)
      throw new Failure('unavailable', `${this.#options.name} has been unloaded; try again.`, { retryAfterS: 1 });
  }

  #begin(): Run<Opened> {
    const run = { opened: false } as Run<Opened>;
    run.promise = this.#start(run);
    this.#run = run;
    run.promise.catch(() => {
      if (this.#run === run) this.#run = undefined;
    });
    return run;
  }

  async #start(run: Run<Opened>): Promise<Life<Opened>> {
    const { circuit, name, engine, open, pingIntervalMs } = this.#options;
    if (circuit.backOffMs > 0) await delay(circuit.backOffMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    this.#assertOpen();
    const host = new Host({
      name,
      engine,
      ...(pingIntervalMs === undefined ? {} : { pingIntervalMs }),
      onEvent: (value) => this.#options.onEvent?.(host, value),
      onExit: (reason, expected) => this.#ended(run, host, reason, expected),
    });
    run.host = host;
    this.#hosts.add(host);
    try {
      await host.ready;
      const opened = await open(host);
      run.opened = true;
      this.#assertOpen();
      return { host, opened };
    } catch (error) {
      // A process whose model did not load is of no use; its memory goes back. A crash was counted when it ended.
      if (host.alive) countFailure(circuit, error);
      await host.close();
      throw error;
    }
  }

  #ended(run: Run<Opened>, host: Host, reason: Failure, expected: boolean): void {
    const crashed = !expected && !this.#closing.signal.aborted;
    if (crashed) {
      log('warn', reason.message, reason.cause instanceof Error ? { output: reason.cause.message } : {});
      this.#options.circuit.failed(reason.message);
    }
    this.#hosts.delete(host);
    this.#options.onExit?.(host, reason);
    if (this.#run !== run) return;
    this.#run = undefined;
    if (crashed && !this.#options.circuit.isOpen) this.#begin();
  }
}

/** Failures that the caller, the file or the disk is at fault for: they fail alike each time and harm nobody. */
const BLAMELESS: ReadonlySet<FailureKind> = new Set(['invalid', 'bad_request', 'not_found', 'disk_full', 'forbidden']);

/** Counts a failed opening for which the process may be at fault. */
function countFailure(circuit: CircuitBreaker, error: unknown): void {
  if (error instanceof Failure && BLAMELESS.has(error.kind)) return;
  circuit.failed(error instanceof Error ? error.message : String(error));
}
