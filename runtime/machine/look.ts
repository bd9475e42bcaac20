import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Machine } from './machine.js';
import type { Recommended } from './suggestions.js';

/** What a look at the machine finds. */
export interface Look {
  readonly machine: Machine;
  /** Known models that fit it, by task. */
  readonly suggestions: readonly Recommended[];
}

/** Devices come and drivers are installed while a daemon runs. */
const FRESH_MS = 60_000;
let last: { readonly atMs: number; readonly look: Promise<Look> } | undefined;

/** What this machine is and what suits it: looked at in a thread of its own, at most once a minute. */
export function lookAtMachine(): Promise<Look> {
  if (last === undefined || performance.now() - last.atMs > FRESH_MS) {
    const look = lookInThread();
    last = { atMs: performance.now(), look };
    look.catch(() => {
      last = undefined;
    });
  }
  return last.look;
}

async function lookInThread(): Promise<Look> {
  const worker = new Worker(new URL('./look-thread.js', import.meta.url));
  worker.unref();
  const [look] = await once(worker, 'message');
  return look as Look;
}
