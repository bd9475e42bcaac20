import { LINGER_BYTES } from './transport.js';

/** A client that sends nothing for so long is listened to no more. */
const QUIET_MS = 1_000;
/** One that goes on sending is listened to for so long. */
const LONGEST_MS = 10_000;

/**
 * The rest of a body that was refused. A connection that is closed while bytes come is reset, and the client loses the answer; so they are
 * thrown away, up to `LINGER_BYTES` or 10 s, and the connection is not ended before.
 */
export class Linger {
  readonly #enough: () => void;
  #left = LINGER_BYTES;
  #isOver = false;
  #then: (() => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #longest: NodeJS.Timeout | undefined;

  /** `enough` is called where more may come that nobody will take. */
  constructor(enough: () => void) {
    this.#enough = enough;
  }

  /** Counts bytes that were thrown away. */
  took(bytes: number): void {
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
