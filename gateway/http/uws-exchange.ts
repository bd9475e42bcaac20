import type { Readable } from 'node:stream';
import { BodyStream, bodyTooLarge, REFUSED_BODY_BYTES, RefusedBody } from './incoming-body.js';
import type { EventStream, Exchange, HeaderList, OpenBody, SizedBody, TransportLimits } from './transport.js';
import {
  CLOSED_BODY,
  CLOSED_STREAM,
  statusLine,
  tailOf,
  UwsOpenBody,
  UwsSizedBody,
  UwsStream,
  withConnectionClose,
  writing,
} from './uws-answers.js';
import { LatePause } from './uws-reads.js';
import type { UwsRequest, UwsResponse } from './uws-surface.js';

/** Bodies from this size on are handed over as fast as the client takes them; smaller ones in one piece. */
const LARGE_BODY_BYTES = 128 * 1024;
/**
 * Above this an answer may not fit the library's cork buffer of 16 KiB with its headers; when its client resets the connection meanwhile, the
 * library takes the answer for none given, and ends the process unless there is an abort callback.
 */
const SURE_BODY_CHARS = 4 * 1024;
/** Between the last byte that is taken of a refused body and the end of its connection. */
const GRACE_MS = 1_000;

const NOTHING = Buffer.alloc(0);
/** What an exchange needs of its listener. */
export interface UwsListenerState {
  readonly limits: TransportLimits;
  /** When true, connections close after their current answer. */
  readonly draining: boolean;
  /** Requests whose handler has returned and whose answer is not complete. */
  running: number;
}

/**
 * One request on uWebSockets.js. That library ends the process when its response object is touched after an abort, or left
 * without an answer and an abort callback; so every use of it is here, and each write looks at `#open` first.
 */
export class UwsExchange implements Exchange {
  readonly path: string;
  gone = false;
  readonly #response: UwsResponse;
  readonly #listener: UwsListenerState;
  /** Only until the handler returns. */
  #request: UwsRequest | undefined;
  #query: string | undefined;
  #headers: Map<string, string> | undefined;
  #onGone: (() => void)[] | undefined;
  /** The answer may still be written to. */
  #open = true;
  #headSent = false;
  #detached = false;
  /** Of a body that was refused before its end. */
  #rest: RefusedBody | undefined;
  /**
   * The body comes in chunks. The library takes trailers for a request that follows, and reads extensions as digits, so nothing behind the end of such a body is
   * served: whoever sent it may have meant something else.
   */
  readonly #isChunked: boolean;

  constructor(
    response: UwsResponse,
    request: UwsRequest,
    readonly method: string,
    listener: UwsListenerState,
  ) {
    this.#response = response;
    this.#request = request;
    this.#listener = listener;
    this.path = request.getUrl();
    this.#isChunked = request.getHeader('transfer-encoding') !== '';
  }

  get query(): string {
    return this.#request ? (this.#request.getQuery() ?? '') : (this.#query ?? '');
  }

  get remoteAddress(): string {
    return this.#open ? addressOf(this.#response) : '';
  }

  header(name: string): string {
    return this.#request ? this.#request.getHeader(name) : (this.#headers?.get(name) ?? '');
  }

  hasHeader(name: string): boolean {
    const names = new Set<string>();
    this.eachHeader((one) => names.add(one));
    return names.has(name);
  }

  eachHeader(told: (name: string, value: string) => void): void {
    if (this.#request) this.#request.forEach(told);
    else for (const [name, value] of this.#headers ?? []) told(name, value);
  }

  /** To be called when the handler returns: copies what is still needed of the request, unless the answer is complete already. */
  detach(): void {
    const request = this.#request;
    if (request === undefined || this.#detached) return;
    if (this.#open) {
      this.#detached = true;
      this.#listener.running += 1;
      this.#response.onAborted(() => this.#aborted());
      const headers = new Map<string, string>();
      request.forEach((name, value) => {
        if (!headers.has(name)) headers.set(name, value);
      });
      this.#headers = headers;
      this.#query = request.getQuery();
    }
    this.#request = undefined;
  }

  onGone(callback: () => void): void {
    this.#onGone ??= [];
    this.#onGone.push(callback);
  }

  readBody(limitBytes: number, take: (bytes: number) => void): Promise<Buffer | undefined> {
    const declared = Number(this.header('content-length') || 0);
    try {
      if (declared > limitBytes) throw bodyTooLarge(limitBytes, declared);
      take(declared);
    } catch (error) {
      if (declared > REFUSED_BODY_BYTES) {
        this.#discardRest();
        this.#response.onData((chunk, isLast) => this.#discarded(chunk, isLast));
      }
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      let bytes: Buffer = NOTHING;
      let size = 0;
      const timer = setTimeout(() => this.#tooSlow(), this.#listener.limits.bodyTimeoutMs);
      const settle = (): void => {
        clearTimeout(timer);
        bytes = NOTHING;
      };
      this.onGone(() => {
        settle();
        resolve(undefined);
      });
      this.#response.onData((chunk, isLast) => {
        if (this.#discarded(chunk, isLast) || !this.#open) return;
        const start = size;
        size += chunk.byteLength;
        try {
          if (size > limitBytes) throw bodyTooLarge(limitBytes);
          if (size > bytes.length) {
            // A body that does not tell its length gets twice the memory when it needs more.
            const length = Math.max(size, declared, Math.min(limitBytes, 2 * bytes.length));
            take(length);
            const larger = Buffer.allocUnsafe(length);
            larger.set(bytes);
            bytes = larger;
          }
        } catch (error) {
          if (!isLast) this.#discardRest();
          settle();
          reject(error);
          return;
        }
        // The chunk's memory is only lent for this callback.
        bytes.set(new Uint8Array(chunk), start);
        if (!isLast) return;
        const body = bytes.subarray(0, size);
        this.#afterBody(() => resolve(body));
        settle();
      });
    });
  }

  bodyStream(limitBytes: number): Readable {
    const response = this.#response;
    const length = this.header('content-length');
    const late = new LatePause(response, () => this.#open);
    const stream = new BodyStream(
      {
        pause: () => late.pause(),
        resume: () => late.resume(),
        drop: () => this.#tooSlow(),
        leave: (isLong) => isLong && this.#discardRest(),
      },
      { limitBytes, declared: length === '' ? Number.NaN : Number(length), stallMs: this.#listener.limits.bodyTimeoutMs },
    );
    this.onGone(() => stream.lose());
    response.onData((chunk, isLast) => {
      // The chunk's memory is only lent for this callback.
      if (!this.#discarded(chunk, isLast)) stream.accept(Buffer.from(new Uint8Array(chunk)));
      if (!isLast) return;
      this.#rest?.end();
      this.#afterBody(() => stream.finish());
    });
    return stream;
  }

  /** The end of a body in chunks is told when the library has seen what came with it: it closes the connection at a request whose turn has not come. */
  #afterBody(then: () => void): void {
    if (this.#isChunked) setImmediate(then);
    else then();
  }

  #discardRest(): void {
    const rest = new RefusedBody(() => this.#open && this.#response.pause());
    this.#rest = rest;
    this.onGone(() => rest.end());
  }

  /** True for bytes of a body that was refused. */
  #discarded(chunk: ArrayBuffer, isLast: boolean): boolean {
    if (isLast) this.#rest?.end();
    else this.#rest?.count(chunk.byteLength);
    return this.#rest !== undefined;
  }

  reply(status: number, headers: HeaderList, body: string | Uint8Array): void {
    if (!this.#open || this.#headSent) return;
    this.#headSent = true;
    if (this.#request && this.#isChunked) {
      this.detach();
      setImmediate(() => this.#open && this.#response.cork(() => this.#whole(status, headers, body)));
      return;
    }
    // Inside the handler the response is corked already.
    if (this.#request) this.#whole(status, headers, body);
    else this.#response.cork(() => this.#whole(status, headers, body));
  }

  stream(status: number, headers: HeaderList): EventStream {
    if (!this.#open || this.#headSent) return CLOSED_STREAM;
    this.#headSent = true;
    return this.#begin(
      status,
      headers,
      new UwsStream(this.#response, this.#listener.limits.stallTimeoutMs, this.#isChunked, () => this.#ends()),
    );
  }

  sized(status: number, headers: HeaderList, length: number): SizedBody {
    if (!this.#open || this.#headSent) return CLOSED_BODY;
    this.#headSent = true;
    if (this.method === 'HEAD') return this.#headAlone(status, [...headers, 'Content-Length', String(length)]);
    const body = new UwsSizedBody(
      this.#response,
      length,
      this.#isChunked,
      () => this.#seal(),
      () => this.#complete(),
    );
    return this.#begin(status, headers, body);
  }

  unsized(status: number, headers: HeaderList): OpenBody {
    if (!this.#open || this.#headSent) return CLOSED_BODY;
    this.#headSent = true;
    if (this.method === 'HEAD') return this.#headAlone(status, headers);
    const { stallTimeoutMs } = this.#listener.limits;
    return this.#begin(status, headers, new UwsOpenBody(this.#response, stallTimeoutMs, this.#isChunked, () => this.#ends()));
  }

  #headAlone(status: number, headers: HeaderList): OpenBody {
    this.#seal();
    this.#response.cork(() => {
      this.#head(status, this.#closes ? withConnectionClose(headers) : headers);
      this.#response.endWithoutBody();
    });
    this.#complete();
    return CLOSED_BODY;
  }

  #begin<Body extends { abort(): void }>(status: number, headers: HeaderList, body: Body): Body {
    this.onGone(() => body.abort());
    this.#response.cork(() => this.#head(status, this.#closes ? withConnectionClose(headers) : headers));
    return body;
  }

  /** The answer is the last of its connection. */
  get #closes(): boolean {
    return this.#listener.draining || this.#rest !== undefined || this.#isChunked;
  }

  /**
   * To be called before each write that may be the last of an answer: nothing more is read of a connection that may not be read on. A write that is not taken whole has
   * the library read again; it closes the connection then at a request, since the answer is not complete. After it the library ends a connection that idles for ten seconds.
   */
  #seal(): void {
    if (this.#isChunked) this.#response.pause();
  }

  #ends(): void {
    this.#seal();
    this.#complete();
  }

  #head(status: number, headers: HeaderList): void {
    const response = this.#response;
    if (status !== 200) response.writeStatus(statusLine(status));
    if (headers.length === 0) return;
    // One call for all: each crossing into the library costs as much as the rest of a short answer.
    const lines = headers[1]! + tailOf(headers);
    response.writeHeader(headers[0]!, lines);
  }

  #whole(status: number, headers: HeaderList, body: string | Uint8Array): void {
    const response = this.#response;
    const bodiless = status === 204 || status === 304;
    if (this.#rest && body.length > 0 && !bodiless && this.method !== 'HEAD') {
      this.#last(this.#rest, status, headers, Buffer.from(body));
      return;
    }
    const close = this.#closes;
    const large =
      body.length > 0 && !bodiless && this.method !== 'HEAD' && (this.#isChunked || (body.length >= LARGE_BODY_BYTES && !close));
    this.#head(status, large && close ? withConnectionClose(headers) : headers);
    // The library does not count these as answers, or not surely, and would end the process.
    if (this.#request && (bodiless || this.method === 'HEAD' || body.length > SURE_BODY_CHARS)) response.onAborted(() => this.#aborted());
    if (large) {
      this.#large(typeof body === 'string' ? Buffer.from(body) : body);
      return;
    }
    this.#seal();
    if (bodiless && !close) response.endWithoutBody();
    else if (this.method === 'HEAD') {
      if (close) response.writeHeader('Connection', 'close');
      // Told by its own argument, the library would wait for so many bytes, and serve nothing more of the connection.
      response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
      response.endWithoutBody();
    } else response.end(bodiless ? '' : body, close);
    this.#complete();
  }

  /**
   * Sends the last answer of a connection, whole, but calls it one byte longer at its end: so it stays unfinished for the library, which else
   * would serve what follows it, and could not be told to close the connection.
   */
  #last(rest: RefusedBody, status: number, headers: HeaderList, body: Buffer): void {
    const response = this.#response;
    if (this.#request) response.onAborted(() => this.#aborted());
    this.#head(status, withConnectionClose(headers));
    const taken = response.tryEnd(body.subarray(0, -1), body.length)[0] && response.tryEnd(body.subarray(-1), body.length + 1)[0];
    if (!taken) {
      response.close();
      return;
    }
    this.#complete();
    let isThere = true;
    let grace: NodeJS.Timeout | undefined;
    this.#onGone = [
      () => {
        isThere = false;
        clearTimeout(grace);
        rest.end();
      },
    ];
    rest.whenOver(() => {
      if (!isThere) return;
      response.pause();
      grace = setTimeout(() => response.close(), GRACE_MS);
    });
  }

  #large(body: Uint8Array): void {
    const response = this.#response;
    const push = (offset: number): boolean => {
      this.#seal();
      const [taken, done] = response.tryEnd(body.subarray(offset), body.byteLength);
      if (done) this.#complete();
      return taken;
    };
    response.onWritable(writing(response, this.#isChunked, () => this.#open, push));
    push(0);
  }

  #complete(): void {
    if (!this.#open) return;
    this.#open = false;
    if (this.#detached) this.#listener.running -= 1;
  }

  #tooSlow(): void {
    if (!this.#open) return;
    this.#response.close();
  }

  #aborted(): void {
    this.gone = this.#open;
    this.#complete();
    for (const callback of this.#onGone ?? []) callback();
    this.#onGone = undefined;
  }
}

/** The address of the other end; of a response that has not ended. */
export function addressOf(response: UwsResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
}
