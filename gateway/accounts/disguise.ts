import type { Reply, Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { SocketListener, SocketPeer } from '../http/transport.js';

/** Texts that stand in a request in place of what the client wrote, each with what the client wrote: answers say that. */
export type Swaps = readonly (readonly [inside: string, written: string])[];

/** What of a request is replaced before a handler sees it. */
export interface Changes {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request as a handler shall see it. */
export class ChangedRequest implements Request {
  readonly #request: Request;
  readonly params: Changes['params'];
  readonly query: Changes['query'];
  readonly body: unknown;
  readonly #headers: Changes['headers'];

  constructor(request: Request, { params, query, body, headers }: Changes) {
    this.#request = request;
    this.params = params;
    this.query = query;
    this.body = body;
    this.#headers = headers;
  }

  get id(): string {
    return this.#request.id;
  }

  get method(): string {
    return this.#request.method;
  }

  get files(): Request['files'] {
    return this.#request.files;
  }

  get bodyBytes(): number {
    return this.#request.bodyBytes;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get visitor(): Request['visitor'] {
    return this.#request.visitor;
  }

  get progress(): Request['progress'] {
    return this.#request.progress;
  }

  readonly header = (name: string): string | undefined => this.#headers[name] ?? this.#request.header(name);
}

/** A text with the client's own words. */
export function inWrittenWords(text: string, swaps: Swaps): string {
  return swaps.reduce((changed, [inside, written]) => changed.replaceAll(inside, written), text);
}

/** An answer with the client's own words. */
export function replyInWrittenWords(reply: Reply, swaps: Swaps): Reply {
  if (swaps.length === 0) return reply;
  const words = (text: string): string => inWrittenWords(text, swaps);
  const headers = reply.headers && Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, words(value)]));
  if ('events' in reply) return { ...reply, ...(headers ? { headers } : {}), events: changed(reply.events, words) };
  if ('pieces' in reply) return reply;
  const { json, bytes, ...rest } = reply;
  const said = { ...rest, ...(headers ? { headers } : {}) };
  if (bytes === undefined) return { ...said, ...(json === undefined ? {} : { json: JSON.parse(words(JSON.stringify(json))) as unknown }) };
  const isText = typeof bytes === 'string' || /json|text/.test(reply.contentType ?? '');
  return { ...said, bytes: isText ? words(typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')) : bytes };
}

/** A failure with the client's own words. */
export function failureInWrittenWords(error: unknown, swaps: Swaps): unknown {
  if (!(error instanceof Failure) || swaps.length === 0) return error;
  const { kind, message, code, errors, fields, retryAfterS, cause } = error;
  const words = <Value>(value: Value): Value => JSON.parse(inWrittenWords(JSON.stringify(value), swaps)) as Value;
  return new Failure(kind, inWrittenWords(message, swaps), {
    code,
    ...(errors ? { errors: words(errors) } : {}),
    ...(fields ? { fields: words(fields) } : {}),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A WebSocket that is told in the client's own words. */
export function listenerInWrittenWords(listener: SocketListener, swaps: Swaps): SocketListener {
  if (swaps.length === 0) return listener;
  const peerOf = (peer: SocketPeer): SocketPeer => ({
    send: (content) => peer.send(typeof content === 'string' ? inWrittenWords(content, swaps) : content),
    get bufferedBytes() {
      return peer.bufferedBytes;
    },
    close: (code, reason) => peer.close(code, inWrittenWords(reason, swaps)),
  });
  return {
    open: (peer) => listener.open(peerOf(peer)),
    message: (content) => listener.message(content),
    closed: (code) => listener.closed(code),
    stopping: () => listener.stopping?.(),
  };
}

/** What comes, changed; leaving early leaves the source, also before its first item. */
function changed(items: AsyncIterable<string>, change: (item: string) => string): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]: () => {
      const source = items[Symbol.asyncIterator]();
      return {
        next: async () => {
          const next = await source.next();
          return next.done ? next : { done: false, value: change(next.value) };
        },
        return: async (value) => (await source.return?.(value)) ?? { done: true, value: undefined },
      };
    },
  };
}
