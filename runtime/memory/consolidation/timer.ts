import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { MemoryStore } from '../contract.js';

/** The longest time that a timer of Node takes; a longer interval looks more often. */
const LONGEST_MS = 2 ** 31 - 1;

/** Looks every `interval_seconds` of a store whether it is to be consolidated, and waits for that. */
export class ConsolidationTimer {
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor({ name, config }: MemoryStore, look: () => Promise<void>) {
    const everyMs = Math.min((config.consolidation?.interval_seconds ?? 300) * 1000, LONGEST_MS);
    this.#timer = setInterval(() => void this.#look(name, look), everyMs);
    this.#timer.unref();
  }

  /** Ends it. */
  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(store: string, look: () => Promise<void>): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await look();
    } catch (cause) {
      // A queue that is full, or a store that closes, is asked again at the next time; one that is gone is asked no more.
      if (cause instanceof Failure && cause.kind === 'not_found') this.stop();
      else if (!(cause instanceof Failure) && (cause as Error).name !== 'AbortError')
        log('warn', 'a memory store could not be consolidated', { store, cause });
    } finally {
      this.#isLooking = false;
    }
  }
}
