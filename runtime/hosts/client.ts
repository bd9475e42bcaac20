import { Failure, withOtherMessage } from '../../schemas/errors.js';
import { Gate } from '../base/gate.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import { Supervisor } from './supervisor.js';

/** Calls that may wait for one host; as many as a host may have open. */
const WAITING_LIMIT = 4096;

/** What a `HostClient` is made of. */
export interface HostClientParts {
  /** For messages: "OCR engine tesseract". Failures of the kind `invalid` begin with it. */
  readonly name: string;
  /** Module that exports `openEngine`. */
  readonly engine: URL;
  readonly circuit: CircuitBreaker;
  /** Given to the engine's method `open` in each life. */
  readonly body: unknown;
  /** A call that takes longer ends the process. */
  readonly callLimitMs: number;
  /**
   * Calls that the engine works on at the same time; the others wait in the daemon, so that the limit counts the work alone, and what is left
   * of a call that was given up.
   */
  readonly atOnce: number;
}

/** An engine in a host process whose calls are questions and answers: opened in each life, asked while it lasts, ended when a call takes too long. */
export class HostClient<Opened> {
  readonly #parts: HostClientParts;
  readonly #supervisor: Supervisor<Opened>;
  readonly #gate: Gate;

  private constructor(parts: HostClientParts) {
    this.#parts = parts;
    const { name, engine, circuit, body, atOnce } = parts;
    this.#gate = new Gate(`requests for ${name}`, atOnce, WAITING_LIMIT);
    this.#supervisor = new Supervisor<Opened>({
      name,
      engine,
      circuit,
      open: (host) => host.call<Opened>('open', body),
    });
  }

  /** Starts the process and opens the engine in it. Throws what opening throws; the process is gone then, and when `stop` is aborted meanwhile. */
  static async open<Opened>(parts: HostClientParts, stop: AbortSignal): Promise<{ client: HostClient<Opened>; opened: Opened }> {
    const client = new HostClient<Opened>(parts);
    return { client, opened: await client.#supervisor.first(stop).catch((error: unknown) => client.#named(error)) };
  }

  /** Process id of the present life. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  /** Asks the engine when it is this call's turn. A dead process throws `unavailable`, one that is too slow `timed_out`; the next call has a new one. */
  call<T>(method: string, body: unknown, signal: AbortSignal): Promise<T> {
    return this.#gate.run(signal, () => this.#ask<T>(method, body, signal));
  }

  /** Engines know their files and not what they are called: what is wrong with those is told of the model. */
  #named(error: unknown): never {
    if (!(error instanceof Failure && error.kind === 'invalid')) throw error;
    const { name } = this.#parts;
    throw withOtherMessage(error, `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${error.message}`);
  }

  async #ask<T>(method: string, body: unknown, signal: AbortSignal): Promise<T> {
    const { host } = await this.#supervisor.ready(signal).catch((error: unknown) => this.#named(error));
    const { name, callLimitMs } = this.#parts;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      host.kill(`did not answer within ${callLimitMs / 1000} s`);
    }, callLimitMs);
    try {
      return await host.call<T>(method, body, signal);
    } catch (error) {
      if (late) throw new Failure('timed_out', `${name} did not answer within ${callLimitMs / 1000} s.`, { cause: error });
      return this.#named(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the process; resolves when its memory is back. */
  close(): Promise<void> {
    return this.#supervisor.close();
  }
}
