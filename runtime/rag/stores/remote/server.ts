import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../../../schemas/errors.js';
import { quoteHost } from '../../../net/ask/failures.js';
import type { Outbound, OutboundRequest } from '../../../net/outbound.js';

/** Tries of one request, the first included. Every request of a store may be repeated: points have fixed ids. */
const TRIES = 3;
const FIRST_DELAY_MS = 200;
const LIMITS = { headersMs: 30_000, idleMs: 30_000, totalMs: 60_000, responseBytes: 256 * 1024 * 1024 };

/** An answer of a server, read in full. */
export interface ServerReply {
  readonly status: number;
  /** Undefined where the body is no JSON. */
  readonly body: unknown;
}

/** Speaks JSON with the server of a store. */
export class Server {
  readonly #outbound: Outbound;
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** `origin` is scheme, host and port; `headers` go with every request. */
  constructor(outbound: Outbound, origin: string, headers: Readonly<Record<string, string>>) {
    this.#outbound = outbound;
    this.#origin = origin;
    this.#headers = headers;
  }

  /** The host as it may be shown. */
  get host(): string {
    return new URL(this.#origin).host;
  }

  /**
   * Sends a request, again after a while when nothing came back or the server was busy. Answers with any status below 300, and with 404;
   * for others it throws `unavailable` naming host and reason. Address refusals stay `bad_request`.
   */
  async call(method: NonNullable<OutboundRequest['method']>, path: string, body?: unknown, signal?: AbortSignal): Promise<ServerReply> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const reply = await this.#send(method, path, body, signal);
        if (reply.status < 300 || reply.status === 404) return reply;
        if (attempt === TRIES || (reply.status !== 429 && reply.status < 502)) throw this.#refusal(method, path, reply);
      } catch (error) {
        const again = error instanceof Failure && (error.code === 'ConnectionLost' || error.code === 'ConnectFailed');
        if (!again || attempt === TRIES) throw this.#named(error);
      }
      await delay(FIRST_DELAY_MS * 2 ** (attempt - 1), undefined, signal && { signal }).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      });
    }
  }

  async #send(method: NonNullable<OutboundRequest['method']>, path: string, body: unknown, signal?: AbortSignal): Promise<ServerReply> {
    const reply = await this.#outbound.request({
      url: `${this.#origin}${path}`,
      policy: 'operator',
      method,
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      limits: LIMITS,
    });
    const text = await reply.text();
    try {
      return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch {
      return { status: reply.status, body: text };
    }
  }

  #refusal(method: string, path: string, { status, body }: ServerReply): Failure {
    const shown = quoteHost(typeof body === 'string' ? body : JSON.stringify(body ?? ''), undefined);
    return new Failure('unavailable', `The store server ${this.host} answered ${status} to ${method} ${path.split('?')[0]}: ${shown}`);
  }

  /** Timeouts become `unavailable` too: for the caller the store is not there. */
  #named(error: unknown): unknown {
    if (!(error instanceof Failure) || error.kind !== 'timed_out') return error;
    return new Failure('unavailable', error.message, { code: error.code, cause: error });
  }
}
