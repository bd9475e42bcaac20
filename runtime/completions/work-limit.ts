import { Failure } from '../../schemas/errors.js';

/** Counts work while it is done, so that what a caller sends cannot hold the event loop: a unit is about a microsecond at most. */
export class WorkLimit {
  #left: number;

  /** `limit` in units. */
  constructor(readonly limit: number) {
    this.#left = limit;
  }

  /** Takes units away. Throws `Failure('invalid')` (schema_too_large) when none are left; so does every later call. */
  spend(units = 1): void {
    this.#left -= units;
    if (this.#left < 0) {
      throw new Failure(
        'invalid',
        'The schema takes too much work: its parts, alternatives and lengths multiply. Simplify it, or divide it among several requests.',
        { code: 'schema_too_large' },
      );
    }
  }
}

/** Whether a value of JSON has fewer nodes than `limit`, its texts counted by the kilobyte; stops counting there. */
export function smallerThan(value: unknown, limit: number): boolean {
  const rest: unknown[] = [value];
  let seen = 0;
  while (rest.length > 0) {
    const node = rest.pop();
    seen += typeof node === 'string' ? 1 + node.length / 1024 : 1;
    if (seen >= limit) return false;
    if (typeof node !== 'object' || node === null) continue;
    for (const key in node) {
      seen += key.length / 1024;
      rest.push((node as Record<string, unknown>)[key]);
      if (seen + rest.length >= limit) return false;
    }
  }
  return true;
}
