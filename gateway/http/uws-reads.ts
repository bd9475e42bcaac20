import { loadCore } from '../../native/loader.js';
import { log } from '../../runtime/base/log.js';

/** Bytes that a connection may hold unread: what Linux lets anybody ask for. It gives twice as many, which hardly ever fill a read of 512 KiB. */
const UNREAD_BYTES = 208 * 1024;

/**
 * Bounds what one turn reads from a connection. uWebSockets.js reads 512 KiB at a time, and where they are filled it reads again at once, whether or
 * not the connection was paused meanwhile: somebody who sends as fast as we read, which is anybody on this machine, would hold all others up and
 * fill the memory. Without effect on Windows.
 */
export function keepReadsShort(port: number): void {
  try {
    if (!loadCore().limitReceiveBuffers(port, UNREAD_BYTES) && process.platform !== 'win32')
      log('warn', `reads of large uploads to port ${port} are not kept short: its socket was not found`);
  } catch (error) {
    log('warn', 'reads of large uploads are not kept short', { error });
  }
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** Bodies of unknown length, and clients that wait for a word before they send theirs. */
const UNUSUAL = /\n(?:transfer-encoding|expect)[ \t]*:/i;
const LENGTHS = /\ncontent-length[ \t]*:([^\r]*)\r/gi;

/**
 * True where the first bytes of a connection are one whole head of HTTP/1.1 and no more than the body whose length it tells. False for a body of
 * unknown length, a client that expects `100 Continue`, two lengths, a head that has not come to its end, and a request behind the first.
 */
export function isOneWholeRequest(first: Buffer): boolean {
  const end = first.indexOf(HEAD_END);
  if (end < 0) return false;
  const head = first.toString('latin1', 0, end + 2);
  if (!head.startsWith(' HTTP/1.1\r', head.indexOf('\r') - 9) || UNUSUAL.test(head)) return false;
  const lengths = [...head.matchAll(LENGTHS)];
  return lengths.length < 2 && first.length - end - HEAD_END.length <= Number(lengths[0]?.[1]?.trim() ?? 0);
}

/** What can be paused: a response of uWebSockets.js, through which its request still comes. */
interface Pausable {
  pause(): void;
  resume(): void;
}

/**
 * Pauses a connection only when all of what was just read was taken, the end of its request perhaps among it: uWebSockets.js closes a connection that is resumed
 * behind its request and then quiet for ten seconds, answer or not. `isOpen` tells whether the response may still be touched.
 */
export class LatePause {
  readonly #response: Pausable;
  readonly #isOpen: () => boolean;
  #coming: NodeJS.Immediate | undefined;

  constructor(response: Pausable, isOpen: () => boolean) {
    this.#response = response;
    this.#isOpen = isOpen;
  }

  pause(): void {
    this.#coming ??= setImmediate(() => {
      this.#coming = undefined;
      if (this.#isOpen()) this.#response.pause();
    });
  }

  /** Undoes `pause`, whether it has taken effect or not. */
  resume(): void {
    if (this.#coming) clearImmediate(this.#coming);
    else if (this.#isOpen()) this.#response.resume();
    this.#coming = undefined;
  }
}
