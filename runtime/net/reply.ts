import type { Readable } from 'node:stream';
import { faultOf, outboundFailure } from './faults.js';

/** Longest wait for the rest of an answer whose end was already seen, so that its socket can be used again. */
const LINGER_MS = 1000;

/** What the exchange that a reply belongs to keeps until the body has ended. */
export interface Exchange {
  readonly host: string;
  /** Aborts with the caller's signal or when the total time is over. */
  readonly signal: AbortSignal;
  readonly responseBytes: number;
  /** Frees timer and listeners; harmless when called again. */
  settle(): void;
}

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
  drop(): void {
    if (!this.#body.destroyed) this.#body.destroy();
  }

  /** After the last piece that matters: lets the body end for a moment so that the socket stays usable, then closes it. */
  async linger(rest: AsyncIterator<Uint8Array>): Promise<void> {
    const timer = setTimeout(() => this.discard(), LINGER_MS);
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
