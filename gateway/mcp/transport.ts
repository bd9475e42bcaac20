import { randomUUID } from 'node:crypto';
import type { McpHttpHandler, Server } from '@modelcontextprotocol/server';
import { log } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Request as ApiRequest, Reply } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Visitor } from '../http/visitor.js';
import { createMcpHandler } from './library.js';

/** Headers that the protocol reads, and those that a tool sees. */
const PASSED = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'host'];
/** The header by which a message says inside this process who sends it; those of clients do not get here. */
const VISITOR = 'x-visitor';
const SANE_SESSION = /^[\w-]{1,128}$/;
/** Open subscriptions of all clients together. */
const MAX_SUBSCRIPTIONS = 1024;
/** Legacy calls whose cancellation is listened for. */
const MAX_CANCELLABLE = 10_000;

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly requestId?: string | number };
}

/** Carries messages of the Model Context Protocol, of all its revisions since 2024-11-05, between our endpoints and a server of its library. No sessions are kept. */
export class McpTransport {
  readonly #handler: McpHttpHandler;
  /** Who sends the messages that are being answered, by a name that no client knows. */
  readonly #visitors = new Map<string, Visitor<Runtime>>();
  #isGuarded = false;
  /** Calls of clients that cancel by a message of its own, by session and request id. */
  readonly #cancellable = new Map<string, AbortController>();

  /** `serverOf` makes a server for each message; `stopping` ends subscriptions. */
  constructor(serverOf: ServerOf, stopping: AbortSignal) {
    this.#handler = createMcpHandler(({ requestInfo }) => serverOf(requestInfo, this.#visitorOf(requestInfo)), {
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => log('debug', 'an MCP message was not served', { error }),
    });
    stopping.addEventListener('abort', () => void this.#handler.close(), { once: true });
  }

  /** Answers one POST; its body is checked against `core/mcp#Post`. */
  async answer(request: ApiRequest): Promise<Reply> {
    const message = request.body as Message;
    const session = sessionOf(request);
    if (session !== undefined && message.method === 'notifications/cancelled')
      this.#cancellable.get(keyOf(session, message.params?.requestId))?.abort();
    const cancel = new AbortController();
    const key = session === undefined || message.id === undefined ? undefined : keyOf(session, message.id);
    if (key !== undefined && this.#cancellable.size < MAX_CANCELLABLE) this.#cancellable.set(key, cancel);
    const { visitor } = request;
    const name = visitor && randomUUID();
    if (name !== undefined) {
      this.#visitors.set(name, visitor as Visitor<Runtime>);
      this.#isGuarded = true;
    }
    const done = (): void => {
      if (name !== undefined) this.#visitors.delete(name);
      if (key !== undefined && this.#cancellable.get(key) === cancel) this.#cancellable.delete(key);
    };
    try {
      const signal = AbortSignal.any([request.signal, cancel.signal]);
      // Of a stream that nobody has begun to read there is no other end.
      signal.addEventListener('abort', done, { once: true });
      const response = await this.#handler.fetch(webRequest(request, signal, name), { parsedBody: message });
      return await replyOf(response, message, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  #visitorOf(message: Request | undefined): Visitor<Runtime> | undefined {
    const visitor = this.#visitors.get(message?.headers.get(VISITOR) ?? '');
    // Nobody passes for everybody where accounts are on.
    if (this.#isGuarded && !visitor) throw new Failure('internal', 'It is not known any more who sends this message.');
    return visitor;
  }
}

/** Makes the server of one message: what was asked, and who asks where accounts are on. */
type ServerOf = (asked: Request | undefined, visitor: Visitor<Runtime> | undefined) => Server;

function keyOf(session: string, id: unknown): string {
  return `${session} ${JSON.stringify(id)}`;
}

function sessionOf(request: ApiRequest): string | undefined {
  const given = request.header('mcp-session-id');
  return given !== undefined && SANE_SESSION.test(given) ? given : undefined;
}

function webRequest(request: ApiRequest, signal: AbortSignal, visitor: string | undefined): Request {
  const headers = new Headers({ 'x-request-id': request.id, ...(visitor === undefined ? {} : { [VISITOR]: visitor }) });
  for (const name of PASSED) {
    const value = request.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  const query = new URLSearchParams(Object.entries(request.query).map(([name, value]): [string, string] => [name, String(value)]));
  return new Request(`http://localhost/mcp?${query}`, { method: 'POST', headers, signal });
}

/** An answer of the protocol's library as one of ours. `done` is called when nothing more of it can be cancelled. */
async function replyOf(response: Response, message: Message, done: () => void): Promise<Reply> {
  // Clients before 2026 send the id of a session with each message; by it, and by nothing else, their cancellations are told apart.
  const headers: Record<string, string> = message.method === 'initialize' && response.ok ? { 'Mcp-Session-Id': randomUUID() } : {};
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) return { headers, events: textOf(response.body, done) };
  const allow = response.headers.get('allow');
  const text = await response.text();
  done();
  return {
    status: response.status,
    headers: allow === null ? headers : { ...headers, Allow: allow },
    bytes: text,
    contentType: type || 'application/json',
  };
}

async function* textOf(body: ReadableStream<Uint8Array>, done: () => void): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
  } finally {
    done();
  }
}
