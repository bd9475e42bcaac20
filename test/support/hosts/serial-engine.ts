import { setTimeout as delay } from 'node:timers/promises';
import type { OpenEngine } from '../../../runtime/hosts/protocol.js';

/** An engine for tests that takes as many milliseconds as a call says, one call after the other. */
export const openEngine: OpenEngine = () => {
  let last: Promise<unknown> = Promise.resolve();
  return {
    call(method, body) {
      if (method === 'open') return 'opened';
      last = last.then(() => delay(body as number));
      return last.then(() => 'answer');
    },
    close: () => {},
  };
};
