import { Failure } from '../../schemas/errors.js';

/** Failures within this time count together. */
const WINDOW_MS = 60_000;
const FAILURES_TO_OPEN = 3;
const COOLDOWN_MS = 10_000;
const COOLDOWN_LIMIT_MS = 60_000;
const BACK_OFF_MS = 100;

/**
 * Counts the crashes of one thing, whatever it answered between them: what crashes now and then takes others' requests with it each time. Each crash delays the next start (100 ms, 200 ms); the third within 60 s opens the circuit for 10 s,
 * and one more after that for twice as long, up to 60 s. A quiet minute forgets all.
 */
export class CircuitBreaker {
  readonly #name: string;
  readonly #now: () => number;
  #failures: number[] = [];
  #openUntil = 0;
  #cooldownMs = COOLDOWN_MS;
  #last = '';

  /** `now` is a monotonic clock in milliseconds. */
  constructor(name: string, now: () => number = () => performance.now()) {
    this.#name = name;
    this.#now = now;
  }

  get isOpen(): boolean {
    return this.#now() < this.#openUntil;
  }

  /** Milliseconds to wait before the next start. */
  get backOffMs(): number {
    const recent = this.#recent().length;
    return recent === 0 ? 0 : BACK_OFF_MS * 2 ** Math.min(recent - 1, 6);
  }

  /** True when nothing that is remembered still matters. */
  get isQuiet(): boolean {
    return !this.isOpen && this.#recent().length === 0;
  }

  /** Notes a failure; `why` is told to those who are refused. */
  failed(why: string): void {
    const now = this.#now();
    if (this.#recent().length === 0 && now >= this.#openUntil) this.#cooldownMs = COOLDOWN_MS;
    this.#failures = [...this.#recent(), now];
    this.#last = why;
    if (this.#failures.length < FAILURES_TO_OPEN) return;
    this.#openUntil = now + this.#cooldownMs;
    this.#cooldownMs = Math.min(this.#cooldownMs * 2, COOLDOWN_LIMIT_MS);
  }

  /** Throws `Failure('unavailable')` that names the thing and when it is tried again while the circuit is open. */
  check(): void {
    if (!this.isOpen) return;
    const seconds = Math.ceil((this.#openUntil - this.#now()) / 1000);
    throw new Failure(
      'unavailable',
      `${this.#name} failed ${this.#failures.length} times within ${WINDOW_MS / 1000} s and is tried again in ${seconds} s. Last: ${this.#last}`,
      {
        code: 'circuit_open',
        retryAfterS: seconds,
      },
    );
  }

  #recent(): number[] {
    const since = this.#now() - WINDOW_MS;
    return this.#failures.filter((time) => time > since);
  }
}
