import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { BodyStream, bodyTooLarge, REFUSED_BODY_BYTES, RefusedBody } from './incoming-body.js';
import type { EventStream, Exchange, HeaderList, OpenBody, SizedBody, TransportLimits } from './transport.js';

/** Between the end of an answer to a body that was refused and the end of its connection. */
const GRACE_MS = 1_000;

/** What an exchange needs of its listener. */
export interface NodeListenerState {
  readonly limits: TransportLimits;
  draining: boolean;
  /** Those whose answers wait for their end. */
  readonly refusedBodies: Set<RefusedBody>;
  /** Connections whose last answer has begun: what comes after its request is not looked at. */
  readonly closing: WeakSet<Duplex>;
}

/** One request on node:http. */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  gone = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #listener: NodeListenerState;
  #headSent = false;
  /** Of a body that was refused before its end. */
  #rest: RefusedBody | undefined;
  /** Ends the connection of a client whose body does not come in time. */
  #late: NodeJS.Timeout | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, listener: NodeListenerState) {
    this.#request = request;
    this.#response = response;
    this.#listener = listener;
    this.method = request.method ?? 'GET';
    const url = request.url ?? '/';
    const at = url.indexOf('?');
    this.path = at < 0 ? url : url.slice(0, at);
    this.query = at < 0 ? '' : url.slice(at + 1);
    response.once('close', () => {
      this.gone = !response.writableFinished;
    });
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    if (this.hasHeader('transfer-encoding') || Number(this.header('content-length')) > 0) {
      this.#expectEnd();
      response.once('close', () => clearTimeout(this.#late));
    }
  }

  get remoteAddress(): string {
    return this.#request.socket.remoteAddress ?? '';
  }

  header(name: string): string {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : (value?.[0] ?? '');
  }

  hasHeader(name: string): boolean {
    return this.#request.headers[name] !== undefined;
  }

  eachHeader(told: (name: string, value: string) => void): void {
    for (const name of Object.keys(this.#request.headers)) told(name, this.header(name));
  }

  onGone(callback: () => void): void {
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) callback();
    });
  }

  readBody(limitBytes: number, take: (bytes: number) => void): Promise<Buffer | undefined> {
    const request = this.#request;
    const declared = Number(this.header('content-length') || 0);
    try {
      if (declared > limitBytes) throw bodyTooLarge(limitBytes, declared);
      take(declared);
    } catch (error) {
      if (declared > REFUSED_BODY_BYTES) this.#discardRest();
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        if (this.#rest) return;
        size += chunk.byteLength;
        try {
          if (size > limitBytes) throw bodyTooLarge(limitBytes);
          if (size > declared) take(size);
          chunks.push(chunk);
        } catch (error) {
          this.#discardRest();
          chunks = [];
          reject(error);
        }
      });
      request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      request.once('close', () => resolve(undefined));
    });
  }

  bodyStream(limitBytes: number): Readable {
    const request = this.#request;
    const length = this.header('content-length');
    clearTimeout(this.#late);
    const stream = new BodyStream(
      {
        pause: () => request.pause(),
        resume: () => request.resume(),
        drop: () => request.destroy(),
        leave: (isLong) => {
          if (isLong) this.#discardRest();
          this.#expectEnd();
          request.resume();
        },
      },
      { limitBytes, declared: length === '' ? Number.NaN : Number(length), stallMs: this.#listener.limits.bodyTimeoutMs },
    );
    request.on('data', (chunk: Buffer) => stream.accept(chunk));
    request.once('end', () => stream.finish());
    request.once('close', () => request.complete || stream.lose());
    return stream;
  }

  reply(status: number, headers: HeaderList, body: string | Uint8Array): void {
    if (this.#headSent || this.gone) return;
    this.#headSent = true;
    const response = this.#response;
    const list = [...headers];
    if (status !== 204 && status !== 304)
      list.push('Content-Length', String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength));
    if (this.#rest || this.#listener.draining) {
      list.push('Connection', 'close');
      this.#listener.closing.add(this.#request.socket);
    }
    response.writeHead(status, list);
    if (this.#rest) this.#endLater(this.#rest, Buffer.from(body));
    else response.end(body);
    this.#leaveBody();
    this.#watchStall();
  }

  stream(status: number, headers: HeaderList): EventStream {
    return this.#begun(status, headers) ?? CLOSED_STREAM;
  }

  #begun(status: number, headers: HeaderList): NodeStream | undefined {
    if (this.#headSent || this.gone) return undefined;
    this.#headSent = true;
    this.#response.writeHead(status, [...headers]);
    if (this.#listener.draining) {
      this.#response.shouldKeepAlive = false;
      this.#listener.closing.add(this.#request.socket);
    }
    this.#leaveBody();
    return new NodeStream(this.#response, this.#listener.limits.stallTimeoutMs);
  }

  sized(status: number, headers: HeaderList, length: number): SizedBody {
    const body = this.#begun(status, [...headers, 'Content-Length', String(length)]);
    const response = this.#response;
    let left = this.method === 'HEAD' ? 0 : length;
    if (left === 0) body?.end();
    return {
      write: async (piece) => {
        if (!body || left <= 0 || response.destroyed) return false;
        left -= piece.byteLength;
        if (!body.write(piece)) await body.ready();
        if (left <= 0) body.end();
        return left > 0 && !response.destroyed;
      },
      cut: () => {
        if (body && left > 0) response.destroy();
      },
    };
  }

  unsized(status: number, headers: HeaderList): OpenBody {
    const body = this.#begun(status, headers);
    const response = this.#response;
    let isOpen = body !== undefined;
    const end = (): void => {
      isOpen = false;
      body?.end();
    };
    if (this.method === 'HEAD') end();
    return {
      write: async (piece) => {
        if (!body || !isOpen || response.destroyed) return false;
        if (!body.write(piece)) await body.ready();
        return !response.destroyed;
      },
      end,
      cut: () => {
        if (isOpen) response.destroy();
      },
    };
  }

  /** What nobody has read would keep the next request from coming; a body that was refused is read by its `RefusedBody`. */
  #leaveBody(): void {
    if (!this.#rest && !this.#request.complete) this.#request.resume();
  }

  #discardRest(): void {
    const request = this.#request;
    const rest = new RefusedBody(() => request.pause());
    this.#rest = rest;
    request.on('data', (chunk: Buffer) => rest.count(chunk.byteLength));
    request.once('close', () => rest.end());
    request.once('end', () => rest.end());
  }

  /** Ends an answer when enough of the refused body has come: node:http closes the connection after it, which resets it while bytes come. */
  #endLater(rest: RefusedBody, body: Buffer): void {
    const { socket } = this.#request;
    // What node:http calls after an answer. Where bytes are left the client shall have read before they are noticed.
    socket.destroySoon = () => {
      socket.end();
      setTimeout(() => socket.destroy(), GRACE_MS).unref();
    };
    this.#response.write(body.subarray(0, -1));
    const { draining, refusedBodies } = this.#listener;
    if (draining) rest.stop();
    refusedBodies.add(rest);
    rest.whenOver(() => {
      refusedBodies.delete(rest);
      this.#response.end(body.subarray(-1));
    });
  }

  #expectEnd(): void {
    this.#late = setTimeout(() => this.#request.complete || this.#request.destroy(), this.#listener.limits.bodyTimeoutMs);
  }

  /** Drops a client that takes nothing of what is left of a whole answer. */
  #watchStall(): void {
    const response = this.#response;
    const { socket } = response;
    if (response.writableFinished || !socket || socket.writableLength === 0) return;
    let taken = socket.bytesWritten - socket.writableLength;
    const timer = setInterval(() => {
      const now = socket.bytesWritten - socket.writableLength;
      if (now === taken && socket.writableLength > 0) socket.destroy();
      taken = now;
    }, this.#listener.limits.stallTimeoutMs);
    response.once('close', () => clearInterval(timer));
  }
}

const CLOSED_STREAM: EventStream = { write: () => false, ready: () => Promise.resolve(), end: () => undefined };

class NodeStream implements EventStream {
  #stall: NodeJS.Timeout | undefined;
  #lagging = false;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly response: ServerResponse,
    private readonly stallTimeoutMs: number,
  ) {
    const caughtUp = (): void => {
      this.#lagging = false;
      clearTimeout(this.#stall);
      for (const resolve of this.#waiting) resolve();
      this.#waiting = [];
    };
    response.on('drain', caughtUp);
    response.once('close', caughtUp);
  }

  write(text: string | Uint8Array): boolean {
    if (this.response.destroyed) return false;
    const taken = this.response.write(text);
    if (!taken && !this.#lagging) {
      this.#lagging = true;
      this.#stall = setTimeout(() => this.response.destroy(), this.stallTimeoutMs);
    }
    return taken;
  }

  ready(): Promise<void> {
    if (this.response.destroyed || !this.response.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    if (!this.response.destroyed) this.response.end();
  }
}
