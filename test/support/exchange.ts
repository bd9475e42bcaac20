import { Readable } from 'node:stream';
import type { EventStream, Exchange, HeaderList, OpenBody, SizedBody } from '../../gateway/http/transport.js';
import { Failure } from '../../schemas/errors.js';

/** A request for `send`. */
export interface Asked {
  readonly method?: string;
  /** With its query, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent as they are; anything else as JSON with its content type. */
  readonly body?: unknown;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of a repeated header the last value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Of an answer whose length its head does not tell. */
  readonly bytes?: Buffer;
  /** The `data` of each Server-Sent Event, in order. */
  readonly events: readonly string[];
}

/** An exchange without a socket: everything written is kept. */
export class RecordedExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress = '127.0.0.1';
  gone = false;
  readonly done: Promise<Answer>;
  /** The head of the answer, which may be a stream without end. */
  readonly begun: Promise<Pick<Answer, 'status' | 'headers'>>;
  readonly #headers = new Map<string, string>();
  readonly #body: Buffer;
  readonly #onGone: (() => void)[] = [];
  #resolve!: (answer: Answer) => void;
  #begin!: (head: Pick<Answer, 'status' | 'headers'>) => void;
  /** What a stream has written so far. */
  written = '';

  constructor(asked: Asked) {
    const [path = '', query = ''] = asked.path.split('?');
    this.method = asked.method ?? 'GET';
    this.path = path;
    this.query = query;
    this.#headers.set('host', 'localhost');
    const { body } = asked;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    if (body !== undefined && !raw) this.#headers.set('content-type', 'application/json');
    this.#body = body === undefined ? Buffer.alloc(0) : Buffer.from(raw ? (body as string) : JSON.stringify(body));
    for (const [name, value] of Object.entries(asked.headers ?? {})) this.#headers.set(name.toLowerCase(), value);
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.done = new Promise((resolve) => {
      this.#resolve = (answer) => {
        this.#begin(answer);
        resolve(answer);
      };
    });
  }

  header(name: string): string {
    return this.#headers.get(name) ?? '';
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name);
  }

  eachHeader(told: (name: string, value: string) => void): void {
    for (const [name, value] of this.#headers) told(name, value);
  }

  async readBody(limitBytes: number, take: (bytes: number) => void): Promise<Buffer | undefined> {
    if (this.#body.length > limitBytes) throw new Failure('too_large', `The body may have ${limitBytes} bytes here.`);
    take(Number(this.header('content-length')));
    return this.#body;
  }

  bodyStream(limitBytes: number): Readable {
    const stream = Readable.from([this.#body]);
    stream.on('error', () => undefined);
    if (this.#body.length > limitBytes) stream.destroy(new Failure('too_large', `The body may have ${limitBytes} bytes here.`));
    return stream;
  }

  onGone(callback: () => void): void {
    this.#onGone.push(callback);
  }

  /** The client closes its connection; `done` resolves with what had come until then. */
  leave(): void {
    this.gone = true;
    for (const callback of this.#onGone) callback();
    this.#resolve({ status: 0, headers: {}, text: this.written, events: eventsOf(this.written) });
  }

  reply(status: number, headers: HeaderList, body: string | Uint8Array): void {
    if (this.gone) return;
    const text = this.method === 'HEAD' ? '' : Buffer.from(body as string).toString('utf8');
    this.#resolve({ status, headers: byName(headers), text, events: [] });
  }

  sized(status: number, headers: HeaderList, length: number): SizedBody {
    const pieces: Buffer[] = [];
    return {
      write: async (piece) => {
        pieces.push(Buffer.from(piece));
        const whole = Buffer.concat(pieces);
        if (whole.length >= length) this.#resolve({ status, headers: byName(headers), text: whole.toString('utf8'), events: [] });
        return whole.length < length && !this.gone;
      },
      cut: () => this.leave(),
    };
  }

  unsized(status: number, headers: HeaderList): OpenBody {
    const pieces: Buffer[] = [];
    let isOpen = true;
    return {
      write: async (piece) => {
        pieces.push(Buffer.from(piece));
        return !this.gone;
      },
      end: () => {
        isOpen = false;
        const bytes = Buffer.concat(pieces);
        this.#resolve({ status, headers: byName(headers), text: bytes.toString('utf8'), bytes, events: [] });
      },
      cut: () => isOpen && this.leave(),
    };
  }

  stream(status: number, headers: HeaderList): EventStream {
    this.#begin({ status, headers: byName(headers) });
    return {
      write: (text) => {
        if (!this.gone) this.written += text;
        return !this.gone;
      },
      ready: () => Promise.resolve(),
      end: () => this.#resolve({ status, headers: byName(headers), text: this.written, events: eventsOf(this.written) }),
    };
  }
}

function byName(headers: HeaderList): Record<string, string> {
  const named: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) named[headers[index]!.toLowerCase()] = headers[index + 1]!;
  return named;
}

/** The `data` texts of an event stream; comments are left out. */
export function eventsOf(text: string): string[] {
  return text.split('\n\n').flatMap((frame) => {
    const lines = frame.split('\n').filter((line) => line.startsWith('data:'));
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')];
  });
}
