import { nodeTransport } from './node.js';
import type { Transport } from './transport.js';
import { uwsTransport } from './uws.js';

export { dispatch, type SocketRoute } from './dispatch.js';
export type { Listener, SocketPeer, TlsIdentity, Transport } from './transport.js';

/** A transport, and why it is not the first choice where it is not. */
export interface ChosenTransport extends Transport {
  /** Set when uWebSockets.js could not be loaded, so that the start can say so. */
  readonly fallbackReason?: string;
}

/** The fastest transport that this system can load: uWebSockets.js, else node:http. `wanted` asks for one of them. */
export function createTransport(wanted?: 'uws' | 'node'): ChosenTransport {
  if (wanted === 'node') return nodeTransport();
  try {
    return uwsTransport();
  } catch (error) {
    if (wanted === 'uws') throw error;
    return { ...nodeTransport(), fallbackReason: (error as Error).message };
  }
}
