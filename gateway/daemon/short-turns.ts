import { loadCore } from '../../native/core.js';
import { log } from '../../runtime/base/log.js';

/**
 * Lets this thread, which serves everybody, run as soon as it wakes: beside two threads that compute on two cores, the wait for their turn
 * was longer than all that the thread itself does. Without effect where the system cannot.
 */
export function takeShortTurns(): void {
  try {
    loadCore().takeShortTurns();
  } catch (error) {
    log('warn', 'the native core does not load: what needs it will fail', { error });
  }
}
