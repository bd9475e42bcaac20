import { log } from '../../runtime/base/log.js';
import { networkOf } from '../../runtime/net/ip.js';

/** Wrong keys that one address may send within `WINDOW_MS`. */
export const MAX_WRONG_KEYS = 10;
/** The window slides: each wrong key counts for so long, in milliseconds. */
export const WINDOW_MS = 60_000;
/** Addresses that are remembered; the one that was wrong longest ago is forgotten first. */
export const MAX_ADDRESSES = 4096;

/**
 * Counts wrong keys by address, in memory that is bounded. Only wrong keys are answered differently for it: the right key is taken from any
 * address at any time, because many clients may share one address and one of them must not lock the others out.
 */
export class WrongKeys {
  /** Times of the wrong keys of an address, oldest first, at most `MAX_WRONG_KEYS`. */
  readonly #times = new Map<string, readonly number[]>();

  /** How many addresses are remembered. */
  get size(): number {
    return this.#times.size;
  }

  /** Notes a wrong key at `nowMs`. Returns the seconds after which the address may try again, 0 while it has tries left. */
  note(address: string, nowMs: number = performance.now()): number {
    const place = networkOf(address);
    const recent = (this.#times.get(place) ?? []).filter((time) => time > nowMs - WINDOW_MS);
    const isOver = recent.length >= MAX_WRONG_KEYS;
    this.#times.delete(place);
    this.#times.set(place, isOver ? recent : [...recent, nowMs]);
    if (this.#times.size > MAX_ADDRESSES) this.#times.delete(this.#times.keys().next().value!);
    if (recent.length === MAX_WRONG_KEYS - 1)
      log('warn', `${address} sent ${MAX_WRONG_KEYS} wrong API keys within ${WINDOW_MS / 1000} s; further ones are answered with 429`);
    return isOver ? Math.max(1, Math.ceil((recent[0]! + WINDOW_MS - nowMs) / 1000)) : 0;
  }
}
