import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long something that comes sooner or later may take on a machine that is busy, in milliseconds: a test that waits so long has failed. */
const PATIENCE_MS = 120_000;

/** Waits until something holds, however busy the machine is; `what` says what that is. */
export async function until(holds: () => unknown, what = String(holds)): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; !(await holds()); await sleep(5))
    assert.ok(performance.now() < endMs, `waited in vain until ${what}`);
}
