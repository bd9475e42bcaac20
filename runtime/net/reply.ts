import type { Readable } from 'node:stream';
import { Failure } from '../../schemas/errors.js';

/** What the exchange that a reply belongs to keeps until the body has ended. */
export interface Exchange {
  readonly host: string;
  /** Aborts with the caller's signal or when the total time is over. */
  readonly signal: AbortSignal;
  readonly responseBytes: number;
  /** Frees timer and listeners; harmless when called again. */
  settle(): void;
}

/** Longest wait for the rest of an answer whose end was already seen, so that its socket can be used again. */
const DRAIN_MS = 1000;

/** A response whose headers have come; the body is read once, and `discard` or the end of reading frees the socket. */
export class OutboundReply {
  readonly #body: Readable;
  readonly #exchange: Exchange;

  constructor(
    readonly status: number,
    /** The final URL. */
    readonly url: URL,
    readonly headers: Readonly<Record<string, string | string[] | undefined>>,
    body: Readable,
    exchange: Exchange,
  ) {
    this.#body = body;
    this.#exchange = exchange;
    // A reply that is aborted before anybody reads it must not raise an unhandled error.
    body.on('error', () => {});
  }

  /** One response header by its lower-case name; the first of several. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** The body piece by piece. Leaving the loop early closes the socket. Throws `Failure`, or the reason of the caller's abort. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const { host, signal, responseBytes } = this.#exchange;
    let read = 0;
    try {
      for await (const chunk of this.#body as AsyncIterable<Uint8Array>) {
        read += chunk.byteLength;
        if (read > responseBytes)
          throw outboundFailure('ResponseTooLarge', `The answer of ${host} is over the limit of ${responseBytes} bytes.`);
        yield chunk;
      }
    } catch (error) {
      throw faultOf(error, host, signal);
    } finally {
      this.discard();
    }
  }

  /** The body as text; `limitBytes` cuts it there without a failure. */
  async text(limitBytes = Number.POSITIVE_INFINITY): Promise<string> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.chunks()) {
      pieces.push(chunk);
      size += chunk.byteLength;
      if (size >= limitBytes) break;
    }
    return Buffer.concat(pieces).subarray(0, Math.min(size, limitBytes)).toString('utf8');
  }

  /** Gives up the body and closes its socket, unless the body has ended. */
  discard(): void {
    this.#exchange.settle();
    if (!this.#body.destroyed) this.#body.destroy();
  }

  /** Drops the body of an answer that is only a step of the exchange, such as a redirect. */
  dropBody(): void {
    if (!this.#body.destroyed) this.#body.destroy();
  }

  /** After the last piece that matters: lets the body end for a moment so that the socket stays usable, then closes it. */
  async drain(rest: AsyncIterator<Uint8Array>): Promise<void> {
    const timer = setTimeout(() => this.discard(), DRAIN_MS);
    try {
      while (!(await rest.next()).done);
    } catch {
      // The answer is complete; how its connection ends does not matter.
    } finally {
      clearTimeout(timer);
      this.discard();
    }
  }
}

/** `code` of the failures that an outgoing exchange ends with; all but the refusals have the kind `unavailable` or `timed_out`. */
export type OutboundFault =
  | 'AddressRefused'
  | 'RedirectRefused'
  | 'ConnectFailed'
  | 'ConnectTimeout'
  | 'ConnectionLost'
  | 'ResponseTimeout'
  | 'IdleTimeout'
  | 'TotalTimeout'
  | 'ResponseTooLarge'
  | 'ProxyRefused'
  | 'BadResponse';

/** Makes the failure of an exchange with one host. */
export function outboundFailure(code: OutboundFault, message: string, cause?: unknown): Failure {
  return new Failure(code.endsWith('Timeout') ? 'timed_out' : 'unavailable', message, { code, cause });
}

const CONNECT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'EADDRNOTAVAIL']);

/** Codes of connections that did not come about in time: undici's, Node's of one address of several, and the system's. */
const CONNECT_TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT', 'ETIMEDOUT']);

/** How undici tells the status of a proxy that opens no way. */
const PROXY_REFUSAL = /^Proxy (?:response|Authentication Required) \((\d{3})\)/;

/** Codes of handshakes that failed, those of OpenSSL's checks of certificates among them. */
const TLS_CODE = /CERT|CRL|TLS|SSL|EPROTO|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/;

/** What undici or the system calls an error; empty where it has no name. */
export function systemCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    // Several addresses were tried, and each has its own error: one that refused says more than one that kept silent.
    const codes = error.errors.map(systemCode);
    return codes.find((code) => !CONNECT_TIMEOUTS.has(code)) ?? codes[0]!;
  }
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

/** Turns whatever an exchange with `host` broke with into a `Failure`; an abort by the caller stays as it is. */
export function faultOf(error: unknown, host: string, signal: AbortSignal): unknown {
  if (signal.aborted && signal.reason !== undefined) return signal.reason;
  if (error instanceof Failure) return error;
  const code = systemCode(error);
  if (CONNECT_TIMEOUTS.has(code)) return outboundFailure('ConnectTimeout', `No connection to ${host} in time.`, error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return outboundFailure('ResponseTimeout', `${host} did not answer in time.`, error);
  if (code === 'UND_ERR_BODY_TIMEOUT') return outboundFailure('IdleTimeout', `${host} stopped sending in the middle of its answer.`, error);
  const refusal = PROXY_REFUSAL.exec((error as Error | null)?.message ?? '')?.[1];
  if (refusal !== undefined) {
    const remedy =
      refusal === '407' ? 'give its user and password in the address of the proxy' : 'ask those who run it to let this host through';
    return outboundFailure('ProxyRefused', `The proxy refuses the way to ${host} (${refusal}): ${remedy}.`, error);
  }
  if (CONNECT_CODES.has(code)) return outboundFailure('ConnectFailed', `No connection to ${host} (${code}).`, error);
  if ((error as Error | null)?.name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return outboundFailure('BadResponse', `${host} does not speak HTTP.`, error);
  if (TLS_CODE.test(code)) return outboundFailure('ConnectFailed', `No secure connection to ${host} (${code}).`, error);
  return outboundFailure(
    'ConnectionLost',
    `The connection to ${host} broke${code === '' || code === 'UND_ERR_SOCKET' ? '' : ` (${code})`}.`,
    error,
  );
}
