import type { SocketListener } from '../http/transport.js';

/** How often it is asked whether who opened a WebSocket may still use it. */
const ASKED_EVERY_MS = 5_000;
/** The code of a connection that is closed by a rule. */
const REFUSED = 1008;

/** A WebSocket that ends when who opened it has signed out, was banned, or has lost the key. `isStill` may reject where nobody can say now: it then goes on. */
export function watched(listener: SocketListener, isStill: () => Promise<boolean>, everyMs = ASKED_EVERY_MS): SocketListener {
  let timer: NodeJS.Timeout | undefined;
  return {
    open: (peer) => {
      timer = setInterval(() => {
        isStill().then(
          (still) => still || peer.close(REFUSED, 'signed out'),
          () => undefined,
        );
      }, everyMs);
      listener.open(peer);
    },
    message: (content) => listener.message(content),
    closed: (code) => {
      clearInterval(timer);
      listener.closed(code);
    },
    stopping: () => listener.stopping?.(),
  };
}
