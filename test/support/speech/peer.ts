import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketListener, SocketPeer } from '../../../gateway/http/transport.js';

/** The far end of a WebSocket in a test: sends to a listener, and keeps what comes back. */
export class TestPeer implements SocketPeer {
  readonly bufferedBytes = 0;
  readonly received: Record<string, unknown>[] = [];
  /** Of binary messages. */
  soundBytes = 0;
  closedWith: number | undefined;
  readonly #listener: SocketListener;

  constructor(listener: SocketListener) {
    this.#listener = listener;
    listener.open(this);
  }

  send(content: string | Uint8Array): boolean {
    if (typeof content === 'string') this.received.push(JSON.parse(content) as Record<string, unknown>);
    else this.soundBytes += content.length;
    return true;
  }

  close(code: number): void {
    this.closedWith = code;
    this.#listener.closed(code);
  }

  say(content: string | Uint8Array | object): void {
    this.#listener.message(typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content));
  }

  leave(): void {
    this.#listener.closed(1005);
  }

  /** The first message of a type that has not been looked at, when it is there; within 60 s. */
  async next(type: string): Promise<Record<string, unknown>> {
    for (let tries = 0; tries < 6000; tries += 1) {
      const at = this.received.findIndex((message) => message.type === type);
      if (at >= 0) return this.received.splice(0, at + 1).at(-1)!;
      await sleep(10);
    }
    throw new Error(`no ${type} came, but ${JSON.stringify(this.received)}`);
  }
}
