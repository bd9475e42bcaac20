import type { Clock } from './clock.js';

/** Sound that may wait to be heard, in bytes. */
const MOST_WAITING = 10 * 1024 * 1024;
/** Bytes of a message that is text. */
const MOST_TEXT = 64 * 1024;
/** Messages and bytes a second, and how many seconds of them may come at once. Sound at ten times its pace is some 320 KB in 500 messages. */
const MESSAGES_PER_S = 1000;
const BYTES_PER_S = 2 * 1024 * 1024;
const BURST_S = 5;
/** Least time between two complaints. */
const COMPLAINT_MS = 1000;

/** What a client may send: more is left unheard, and it is told so. */
export class Traffic {
  readonly #clock: Clock;
  readonly #complain: (message: string) => void;
  #messages = MESSAGES_PER_S * BURST_S;
  #bytes = BYTES_PER_S * BURST_S;
  #filledMs: number;
  #waiting = 0;
  #complainedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, complain: (message: string) => void) {
    this.#clock = clock;
    this.#complain = complain;
    this.#filledMs = clock.nowMs();
  }

  /** Whether so many bytes of sound are taken; `done` is called when they were heard. */
  takes(bytes: number): boolean {
    if (this.#waiting + bytes > MOST_WAITING) return this.#refuse('Sound comes faster than it can be heard; some of it is left out.');
    if (!this.#spend(bytes)) return false;
    this.#waiting += bytes;
    return true;
  }

  /** So many bytes of sound were heard. */
  done(bytes: number): void {
    this.#waiting -= bytes;
  }

  /** Whether a message of text is taken. */
  takesText(length: number): boolean {
    if (length > MOST_TEXT) return this.#refuse(`A message has ${length} characters; ${MOST_TEXT} is the most.`);
    return this.#spend(length);
  }

  #spend(bytes: number): boolean {
    const now = this.#clock.nowMs();
    const passedS = (now - this.#filledMs) / 1000;
    this.#filledMs = now;
    this.#messages = Math.min(MESSAGES_PER_S * BURST_S, this.#messages + passedS * MESSAGES_PER_S);
    this.#bytes = Math.min(BYTES_PER_S * BURST_S, this.#bytes + passedS * BYTES_PER_S);
    if (this.#messages < 1 || this.#bytes < bytes) {
      return this.#refuse(`More than ${MESSAGES_PER_S} messages or ${BYTES_PER_S} bytes a second come; some are left out.`);
    }
    this.#messages -= 1;
    this.#bytes -= bytes;
    return true;
  }

  #refuse(message: string): false {
    const now = this.#clock.nowMs();
    if (now - this.#complainedMs >= COMPLAINT_MS) {
      this.#complainedMs = now;
      this.#complain(message);
    }
    return false;
  }
}
