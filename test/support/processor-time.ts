import assert from 'node:assert/strict';
import { Failure } from '../../schemas/errors.js';

/** How often work is tried for which the machine had no time; each try takes twelve seconds. */
const TRIES = 10;

/** Milliseconds that processors spend on some work of this process; what other programs of a busy machine take does not count. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Asserts that some work fails as `expected` says (see `assert.throws`), and returns the milliseconds that processors spent on it. Work under a time limit fails with `busy` where the machine gives this
 * thread no time, which says nothing about the work: that is tried again.
 */
export function msToFail(work: () => unknown, expected: assert.AssertPredicate): number {
  for (let tries = 1; ; tries += 1) {
    let failure: unknown;
    const ms = processorMs(() => {
      try {
        work();
      } catch (error) {
        failure = error;
      }
    });
    if (failure instanceof Failure && failure.kind === 'busy' && tries < TRIES) continue;
    assert.throws(() => {
      if (failure !== undefined) throw failure;
    }, expected);
    return ms;
  }
}
