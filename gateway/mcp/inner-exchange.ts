import { Readable } from 'node:stream';
import type { Progress } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { EventStream, Exchange, HeaderList, OpenBody, SizedBody } from '../http/transport.js';

/** A request that comes from this process. */
export interface InnerRequest {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Ends the request as a client that closes its connection does. */
  readonly signal: AbortSignal;
  readonly progress?: ((step: Progress) => void) | undefined;
  /** Who asks, where accounts are on. */
  readonly visitor?: object | undefined;
}

/** What the request was answered with. */
export interface InnerAnswer {
  readonly status: number;
  readonly contentType: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** An exchange without a network: a call takes the way of every request, with its checks and limits, and its answer comes back whole. */
export class InnerExchange implements Exchange {
  readonly remoteAddress = '';
  /** Rejects with the reason of the signal, and for answers that come in pieces. */
  readonly answer: Promise<InnerAnswer>;
  readonly #request: InnerRequest;
  #resolve!: (answer: InnerAnswer) => void;
  #reject!: (reason: unknown) => void;

  constructor(request: InnerRequest) {
    this.#request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal.addEventListener('abort', () => this.#reject(request.signal.reason), { once: true });
    if (request.signal.aborted) this.#reject(request.signal.reason);
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return this.#request.path;
  }

  get query(): string {
    return this.#request.query;
  }

  get gone(): boolean {
    return this.#request.signal.aborted;
  }

  get progress(): Exchange['progress'] {
    return this.#request.progress;
  }

  get visitor(): object | undefined {
    return this.#request.visitor;
  }

  header(name: string): string {
    return this.#request.headers[name] ?? '';
  }

  hasHeader(name: string): boolean {
    return Object.hasOwn(this.#request.headers, name);
  }

  eachHeader(told: (name: string, value: string) => void): void {
    for (const [name, value] of Object.entries(this.#request.headers)) told(name, value);
  }

  async readBody(limitBytes: number, take: (bytes: number) => void): Promise<Buffer | undefined> {
    const { body } = this.#request;
    if (body.length > limitBytes) throw tooLarge(limitBytes, body.length);
    take(body.length);
    return this.gone ? undefined : body;
  }

  bodyStream(limitBytes: number): Readable {
    const { body } = this.#request;
    const stream = Readable.from([body]);
    stream.on('error', () => undefined);
    if (body.length > limitBytes) stream.destroy(tooLarge(limitBytes, body.length));
    return stream;
  }

  onGone(callback: () => void): void {
    this.#request.signal.addEventListener('abort', callback, { once: true });
  }

  reply(status: number, headers: HeaderList, body: string | Uint8Array): void {
    const named: Record<string, string> = {};
    for (let at = 0; at < headers.length; at += 2) named[headers[at]!.toLowerCase()] = headers[at + 1]!;
    this.#resolve({ status, contentType: named['content-type'] ?? '', headers: named, body });
  }

  stream(): EventStream {
    this.#refusePieces();
    return { write: () => true, ready: async () => undefined, end: () => undefined };
  }

  sized(): SizedBody {
    return this.unsized();
  }

  unsized(): OpenBody {
    this.#refusePieces();
    return { write: async () => false, cut: () => undefined, end: () => undefined };
  }

  #refusePieces(): void {
    this.#reject(new Failure('bad_request', 'This operation answers in pieces, which a tool cannot: ask for it over HTTP.'));
  }
}

function tooLarge(limitBytes: number, bytes: number): Failure {
  return new Failure('too_large', `The arguments have ${bytes} bytes and may have ${limitBytes} here.`);
}
