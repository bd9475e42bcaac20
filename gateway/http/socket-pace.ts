import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketPeer } from './transport.js';

/** What may wait in the daemon for a peer: two seconds of speech, after which it is told no more until it takes some. */
const WAITING_BYTES = 96 * 1024;
const LOOK_MS = 10;
/** A peer that takes nothing for so long is given up. */
const STALL_MS = 10_000;
/** How a WebSocket ends whose peer is too slow: "policy violation". */
const TOO_SLOW = 1008;

/**
 * Sends when the peer has taken enough of what was sent before. Resolves to false when nothing more is wanted: `signal` is aborted, or the peer has taken
 * nothing for 10 s, and is closed.
 */
export async function sendPaced(peer: SocketPeer, content: string | Uint8Array, signal: AbortSignal): Promise<boolean> {
  let least = peer.bufferedBytes;
  let stalledAt = performance.now() + STALL_MS;
  while (!signal.aborted && peer.bufferedBytes > WAITING_BYTES) {
    if (peer.bufferedBytes < least) {
      least = peer.bufferedBytes;
      stalledAt = performance.now() + STALL_MS;
    } else if (performance.now() > stalledAt) {
      peer.close(TOO_SLOW, 'too slow: nothing was taken for 10 s');
      return false;
    }
    await sleep(LOOK_MS);
  }
  return !signal.aborted && peer.send(content);
}
