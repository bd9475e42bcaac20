import { Readable } from 'node:stream';
import { Failure } from '../../schemas/errors.js';

/** So much of a refused body is read and thrown away, so that the client sees the answer instead of a reset. */
export const REFUSED_BODY_BYTES = 16 * 1024 * 1024;
/** A client that sends nothing for so long is listened to no more. */
const QUIET_MS = 1_000;
/** One that goes on sending is listened to for so long. */
const LONGEST_MS = 10_000;

/**
 * The rest of a body that was refused. A connection that is closed while bytes come is reset, and the client loses the answer; so they are
 * thrown away, up to `REFUSED_BODY_BYTES` or 10 s, and the connection is not ended before.
 */
export class RefusedBody {
  readonly #enough: () => void;
  #left = REFUSED_BODY_BYTES;
  #isOver = false;
  #then: (() => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #longest: NodeJS.Timeout | undefined;

  /** `enough` is called where more may come that nobody will take. */
  constructor(enough: () => void) {
    this.#enough = enough;
  }

  /** Counts bytes that were thrown away. */
  count(bytes: number): void {
    if (this.#isOver) return;
    this.#left -= bytes;
    if (this.#left < 0) this.stop();
    else this.#quiet?.refresh();
  }

  /** Nothing comes any more: the body is complete, or its client is gone. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#quiet);
    clearTimeout(this.#longest);
    this.#then?.();
  }

  /** Calls back, at once or later, when the connection may end. */
  whenOver(then: () => void): void {
    if (this.#isOver) {
      then();
      return;
    }
    this.#then = then;
    this.#quiet = setTimeout(() => this.stop(), QUIET_MS);
    this.#longest = setTimeout(() => this.stop(), LONGEST_MS);
  }

  /** Takes no more, though more may come. */
  stop(): void {
    if (this.#isOver) return;
    this.#enough();
    this.end();
  }
}

/** What a transport does for the stream of a body. */
export interface BodySource {
  /** Stops the network from delivering, and starts it again; never called when the client is gone. */
  pause(): void;
  resume(): void;
  /** The client was silent for too long: its connection ends. */
  drop(): void;
  /** The stream was left before its end, and what still comes is thrown away; `isLong` where that is over `REFUSED_BODY_BYTES` or nobody knows. */
  leave(isLong: boolean): void;
}

/** The failure of a body over its limit. */
export function bodyTooLarge(limitBytes: number, declared?: number): Failure {
  const size = declared === undefined ? 'more' : `${declared} bytes`;
  return new Failure('too_large', `The body may have ${limitBytes} bytes here, but ${size} came.`);
}

/** A body as it comes, with back-pressure: while nobody reads, the network is paused, so that its size costs no memory. */
export class BodyStream extends Readable {
  readonly #source: BodySource;
  readonly #limitBytes: number;
  readonly #declared: number;
  readonly #stallMs: number;
  #received = 0;
  #paused = false;
  #lost = false;
  #finished = false;
  #timer: NodeJS.Timeout | undefined;

  /** `declared` is the Content-Length, NaN without one. Throws `too_large` where that is over the limit. */
  constructor(source: BodySource, limits: { limitBytes: number; declared: number; stallMs: number }) {
    super({ highWaterMark: 256 * 1024 });
    this.#source = source;
    this.#limitBytes = limits.limitBytes;
    this.#declared = limits.declared;
    this.#stallMs = limits.stallMs;
    // A stream that is left before anybody listens must not end the process.
    this.on('error', () => undefined);
    this.#watch();
    if (limits.declared > limits.limitBytes) this.destroy(bodyTooLarge(limits.limitBytes, limits.declared));
  }

  /** Takes bytes from the network; they belong to the stream. */
  accept(chunk: Buffer): void {
    if (this.destroyed || chunk.length === 0) return;
    this.#received += chunk.length;
    if (this.#received > this.#limitBytes) {
      this.destroy(bodyTooLarge(this.#limitBytes));
      return;
    }
    this.#watch();
    if (this.push(chunk)) return;
    this.#paused = true;
    clearTimeout(this.#timer);
    this.#source.pause();
  }

  /** The body is complete. */
  finish(): void {
    this.#finished = true;
    clearTimeout(this.#timer);
    // Nobody reads past the end, which would do this: a connection that stays paused never gets its next request.
    if (this.#paused) this.#source.resume();
    this.#paused = false;
    if (!this.destroyed) this.push(null);
  }

  /** The client is gone. */
  lose(): void {
    this.#lost = true;
    this.destroy(new DOMException('The client closed the connection.', 'AbortError') as Error);
  }

  override _read(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#watch();
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    if (!this.#lost && !this.#finished) {
      const rest = this.#declared - this.#received;
      this.#source.leave(!(rest <= REFUSED_BODY_BYTES));
      if (this.#paused) this.#source.resume();
    }
    done(error);
  }

  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#source.drop(), this.#stallMs);
  }
}
