import { Failure, type FailureKind } from '../../../schemas/errors.js';
import type { Outbound } from '../outbound.js';
import type { Bases } from './bases.js';
import { type JsonCall, postJson } from './json-host.js';

/** After these the next base is asked. What else is refused would be refused there too, and says nothing against the one that refuses it. */
const PASSING: ReadonlySet<FailureKind> = new Set(['unavailable', 'timed_out', 'busy']);

/** One JSON request to whichever of several hosts answers. */
export type SharedCall = Omit<JsonCall, 'base' | 'setting'>;

/** An answer, and who gave it. */
export interface Answered {
  readonly base: string;
  readonly answer: unknown;
}

/**
 * Sends JSON to one of several hosts that do the same, and to the next where it is not there or has no room. Throws as `postJson` does: what the last one said
 * where none answers.
 */
export async function postToOne(outbound: Outbound, bases: Bases, call: SharedCall, signal: AbortSignal): Promise<Answered> {
  const tried = new Set<string>();
  for (;;) {
    const base = bases.pick(tried);
    tried.add(base);
    try {
      const answer = await postJson(outbound, { ...call, base, setting: bases.setting }, signal);
      bases.worked(base);
      return { base, answer };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure) || !PASSING.has(error.kind)) throw error;
      bases.failed(base);
      if (tried.size >= bases.count) throw error;
    }
  }
}
