import type { SocketListener } from '../http/transport.js';

/** How often it is asked whether who opened a WebSocket may still use it. */
const ASKED_EVERY_MS = 5_000;
/** The code of a connection that is closed by a rule. */
const REFUSED = 1008;

/** A WebSocket that ends when who opened it has signed out, was banned, or has lost the key. `isStill` may reject where nobody can say now: it then goes on. */
export function closeWhenRefused(listener: SocketListener, isStill: () => Promise<boolean>, everyMs = ASKED_EVERY_MS): SocketListener {
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

/** A stream that ends in the same way, at its next item. */
export async function* endWhenRefused(
  items: AsyncIterable<string>,
  isStill: () => Promise<boolean>,
  everyMs = ASKED_EVERY_MS,
): AsyncGenerator<string, void, undefined> {
  let askedMs = performance.now();
  for await (const item of items) {
    const isDue = performance.now() - askedMs > everyMs;
    if (isDue && !(await isStill().catch(() => true))) return;
    if (isDue) askedMs = performance.now();
    yield item;
  }
}
