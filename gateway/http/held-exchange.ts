import type { Readable } from 'node:stream';
import type { EventStream, Exchange, HeaderList, OpenBody, SizedBody } from './transport.js';

/** An exchange whose body is caught while it is found out who sends it: a transport gives a body to who asks for it at once, or to nobody. */
export class HeldExchange implements Exchange {
  readonly #exchange: Exchange;
  readonly #body: Readable | undefined;

  /** `limitBytes` of the body; absent where nobody will read it. */
  constructor(exchange: Exchange, limitBytes: number | undefined) {
    this.#exchange = exchange;
    this.#body = limitBytes === undefined ? undefined : exchange.bodyStream(limitBytes);
  }

  get method(): string {
    return this.#exchange.method;
  }

  get path(): string {
    return this.#exchange.path;
  }

  get query(): string {
    return this.#exchange.query;
  }

  get remoteAddress(): string {
    return this.#exchange.remoteAddress;
  }

  get gone(): boolean {
    return this.#exchange.gone;
  }

  get progress(): Exchange['progress'] {
    return this.#exchange.progress;
  }

  header(name: string): string {
    return this.#exchange.header(name);
  }

  hasHeader(name: string): boolean {
    return this.#exchange.hasHeader(name);
  }

  eachHeader(told: (name: string, value: string) => void): void {
    this.#exchange.eachHeader(told);
  }

  async readBody(_limitBytes: number, take: (bytes: number) => void): Promise<Buffer | undefined> {
    const body = this.#body!;
    try {
      if (body.errored) throw body.errored;
      const declared = Number(this.header('content-length') || 0);
      take(declared);
      const pieces: Buffer[] = [];
      let size = 0;
      for await (const piece of body as AsyncIterable<Buffer>) {
        size += piece.length;
        if (size > declared) take(size);
        pieces.push(piece);
      }
      return Buffer.concat(pieces, size);
    } catch (error) {
      this.discard();
      if ((error as Error).name === 'AbortError') return undefined;
      throw error;
    }
  }

  bodyStream(): Readable {
    return this.#body!;
  }

  /** Nobody reads the body. */
  discard(): void {
    this.#body?.destroy();
  }

  onGone(callback: () => void): void {
    this.#exchange.onGone(callback);
  }

  reply(status: number, headers: HeaderList, body: string | Uint8Array): void {
    this.#exchange.reply(status, headers, body);
  }

  stream(status: number, headers: HeaderList): EventStream {
    return this.#exchange.stream(status, headers);
  }

  sized(status: number, headers: HeaderList, length: number): SizedBody {
    return this.#exchange.sized(status, headers, length);
  }

  unsized(status: number, headers: HeaderList): OpenBody {
    return this.#exchange.unsized(status, headers);
  }
}
