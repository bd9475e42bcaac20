import { STATUS_CODES } from 'node:http';
import type { EventStream, HeaderList, OpenBody, SizedBody } from './transport.js';
import type { UwsResponse } from './uws-surface.js';

const statusLines = new Map<number, string>();

/** What stands behind the version in an answer's first line: `200 OK`. */
export function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
}

/** The headers of the last answer after the first, and their text: most answers differ in their request id alone, which comes first. */
let lastTail: HeaderList = [];
let lastTailText = '';

/** All headers but the first, as the lines that follow the value of the first. */
export function tailOf(headers: HeaderList): string {
  let index = headers.length === lastTail.length ? 2 : headers.length;
  while (index < headers.length && headers[index] === lastTail[index]) index += 1;
  if (index === headers.length && headers.length === lastTail.length) return lastTailText;
  const lines: string[] = [];
  for (let at = 2; at < headers.length; at += 2) lines.push(`\r\n${headers[at]}: ${headers[at + 1]}`);
  lastTail = headers;
  lastTailText = lines.join('');
  return lastTailText;
}

/** The same headers, with the word that the connection ends behind the answer. */
export function withConnectionClose(headers: HeaderList): HeaderList {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.toLowerCase() !== 'connection') kept.push(headers[index]!, headers[index + 1]!);
  }
  return [...kept, 'Connection', 'close'];
}

/** An empty event: makes uWebSockets.js send what it holds back, see `UwsStream`. */
const NUDGE = ':\n\n';
/** Such events before the end of a slow stream behind which nothing may be read. */
const NUDGES = 2;
/** So much of a body of unknown length is given to the library at a time: it keeps what the network does not take. */
const SLICE_BYTES = 16 * 1024;
/** For an answer that nobody waits for. */
export const CLOSED_BODY: OpenBody = { write: () => Promise.resolve(false), end: () => undefined, cut: () => undefined };
/** The same, of events. */
export const CLOSED_STREAM: EventStream = { write: () => false, ready: () => Promise.resolve(), end: () => undefined };

/**
 * What writes more of an answer when the network has room. Where nothing may be read behind the answer (`isLast`) it does so in a turn of its own, with the connection paused: what has
 * come together with the room is read before, when the answer is not complete, and the library closes the connection for it; behind the last write it would be served.
 */
export function writing(
  response: UwsResponse,
  isLast: boolean,
  isOpen: () => boolean,
  write: (offset: number) => boolean,
): (offset: number) => boolean {
  return (offset) => {
    if (!isOpen()) return true;
    if (!isLast) return write(offset);
    response.pause();
    setImmediate(() => isOpen() && response.cork(() => write(offset)));
    return true;
  };
}

/**
 * Events on uWebSockets.js. With a writable callback the library sends what it has buffered only along with the next write,
 * so the callback writes an empty event until all is out.
 */
export class UwsStream implements EventStream {
  #open = true;
  #listening = false;
  #lagging = false;
  #stall: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly response: UwsResponse,
    private readonly stallTimeoutMs: number,
    /** Nothing more may be read of the connection after it. */
    private readonly isLast: boolean,
    /** Called before the last write. */
    private readonly onEnd: () => void,
  ) {}

  write(text: string): boolean {
    if (!this.#open) return false;
    this.response.cork(() => this.#settle(this.response.write(text)));
    return !this.#lagging;
  }

  ready(): Promise<void> {
    if (!this.#open || !this.#lagging) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    if (!this.#open) return;
    if (this.isLast && this.#listening) void this.#endWithRoom();
    else this.#finish();
  }

  abort(): void {
    this.#stop();
  }

  #settle(taken: boolean): void {
    this.#lagging = !taken;
    clearTimeout(this.#stall);
    if (taken) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resolve of waiting) resolve();
      return;
    }
    this.#stall = setTimeout(() => this.#drop(), this.stallTimeoutMs);
    if (this.#listening) return;
    this.#listening = true;
    this.response.onWritable(() => {
      if (this.#open && this.#lagging) this.#settle(this.response.write(NUDGE));
      return true;
    });
  }

  /**
   * Ends when the network has room for the end: what is buffered then would be written later, and that has the library read on. What was written last may have taken all
   * the room there was; where the short events after it are not taken at once, the room that comes is much more than they need.
   */
  async #endWithRoom(): Promise<void> {
    for (let left = NUDGES; this.#open; left -= 1) {
      await this.ready();
      // What came together with the room is read by then.
      await new Promise(setImmediate);
      if (left === 0) break;
      this.write(NUDGE);
    }
    if (this.#open) this.#finish();
  }

  #finish(): void {
    this.#stop();
    this.onEnd();
    // Never with the close flag: the library would write a `Connection` header into the chunked body.
    this.response.cork(() => this.response.end());
  }

  #drop(): void {
    if (this.#open) this.response.close();
  }

  #stop(): void {
    this.#open = false;
    this.#lagging = false;
    clearTimeout(this.#stall);
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}

/** A body of known length on uWebSockets.js: what the network does not take at once is offered again when it can, and nothing is buffered. */
export class UwsSizedBody implements SizedBody {
  #open = true;
  #piece: Uint8Array = new Uint8Array();
  /** Bytes of the body before the piece. */
  #start = 0;
  #taken: (() => void) | undefined;

  constructor(
    private readonly response: UwsResponse,
    private readonly length: number,
    /** Nothing more may be read of the connection after it. */
    isLast: boolean,
    /** Called before each write: any may be the last. */
    private readonly onWrite: () => void,
    private readonly onEnd: () => void,
  ) {
    const isOpen = (): boolean => this.#open && this.#taken !== undefined;
    response.onWritable(writing(response, isLast, isOpen, (offset) => this.#push(offset)));
  }

  async write(piece: Uint8Array): Promise<boolean> {
    if (!this.#open) return false;
    this.#piece = piece;
    this.#start = this.response.getWriteOffset();
    await new Promise<void>((resolve) => {
      this.#taken = resolve;
      this.response.cork(() => this.#push(this.#start));
    });
    return this.#open;
  }

  cut(): void {
    if (this.#open) this.response.close();
  }

  abort(): void {
    this.#open = false;
    this.#settle();
  }

  #push(offset: number): boolean {
    this.onWrite();
    const [taken, done] = this.response.tryEnd(this.#piece.subarray(offset - this.#start), this.length);
    if (done) {
      this.#open = false;
      this.onEnd();
    }
    if (taken || done) this.#settle();
    return taken;
  }

  #settle(): void {
    this.#taken?.();
    this.#taken = undefined;
  }
}

/**
 * A body of unknown length on uWebSockets.js. What the library keeps of a slice leaves with the next write or the end, so the next piece is asked for as soon as
 * the network takes bytes again.
 */
export class UwsOpenBody implements OpenBody {
  #open = true;
  #writable: (() => void) | undefined;

  constructor(
    private readonly response: UwsResponse,
    private readonly stallTimeoutMs: number,
    /** Nothing more may be read of the connection after it. */
    private readonly isLast: boolean,
    /** Called before the last write. */
    private readonly onEnd: () => void,
  ) {
    response.onWritable(() => {
      this.#writable?.();
      return true;
    });
  }

  async write(piece: Uint8Array): Promise<boolean> {
    for (let at = 0; at < piece.byteLength && this.#open; at += SLICE_BYTES) {
      let taken = true;
      this.response.cork(() => {
        taken = this.response.write(piece.subarray(at, at + SLICE_BYTES));
      });
      if (!taken) await this.#untilWritable();
    }
    return this.#open;
  }

  end(): void {
    if (!this.#open) return;
    // What came together with room for the last piece is read before the end.
    if (this.isLast) setImmediate(() => this.#finish());
    else this.#finish();
  }

  cut(): void {
    if (this.#open) this.response.close();
  }

  abort(): void {
    this.#open = false;
    this.#writable?.();
  }

  #finish(): void {
    if (!this.#open) return;
    this.#open = false;
    this.onEnd();
    this.response.cork(() => this.response.end());
  }

  async #untilWritable(): Promise<void> {
    const stall = setTimeout(() => this.cut(), this.stallTimeoutMs);
    await new Promise<void>((resolve) => {
      this.#writable = resolve;
    });
    clearTimeout(stall);
    this.#writable = undefined;
  }
}
