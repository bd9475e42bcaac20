import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts } from '../accounts.js';
import { UNASKABLE } from '../http/route.js';

/** Most bytes that a mount takes before the library says how many a path may have. */
const MOST_BYTES = 1024 * 1024;

/** A request of `node:http`, or of a framework on top of it, which may have read the body. */
export type NodeRequest = IncomingMessage & { readonly originalUrl?: string; readonly rawBody?: unknown; readonly body?: unknown };

/**
 * A handler for `node:http` and for Express 5: it answers the library's paths, and calls `next` for all others (404 where there is no
 * `next`). It may stand before or after a body parser: a body that was read is taken from `rawBody`, or made of the parsed one.
 */
export function nodeHandler(accounts: Accounts): (request: NodeRequest, response: ServerResponse, next?: () => void) => void {
  return (request, response, next) => {
    const path = (request.originalUrl ?? request.url ?? '/').replace(/[?#].*/, '');
    if (!accounts.owns(path)) {
      if (next) next();
      else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
      return;
    }
    if (UNASKABLE.has(request.method ?? '')) {
      response.writeHead(405, { 'content-type': 'application/json', allow: 'GET, POST, DELETE' }).end('{"error":"not_allowed"}');
      return;
    }
    answer(accounts, request, response).catch(() => response.destroy());
  };
}

async function answer(accounts: Accounts, request: NodeRequest, response: ServerResponse): Promise<void> {
  // A connection that has ended has no address any more.
  const ip = request.socket.remoteAddress ?? '';
  const body = await bodyOf(request);
  if (body === 'too large') {
    response
      .writeHead(413, { 'content-type': 'application/json', connection: 'close' })
      .end('{"error":"too_large","message":"the body is too large"}');
    return;
  }
  const { status, headers, body: content } = await accounts.handle(webRequest(request), { ip, rawBody: body });
  if (response.destroyed) return;
  const cookies = headers.getSetCookie();
  response.writeHead(status, {
    ...Object.fromEntries([...headers].filter(([name]) => name !== 'set-cookie')),
    ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}),
  });
  response.end(content ? Buffer.from(await new Response(content).arrayBuffer()) : undefined);
}

/** The headers of a request as the library takes them. */
export function headersOf(request: NodeRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name.startsWith(':')) continue;
    headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return headers;
}

/** The head of a request as the library takes it; the body goes beside it. */
function webRequest(request: NodeRequest): Request {
  const path = (request.originalUrl ?? request.url ?? '/').replace(/^\/\/+/, '/');
  return new Request(new URL(path, 'http://accounts.invalid'), { method: request.method ?? 'GET', headers: headersOf(request) });
}

async function bodyOf(request: NodeRequest): Promise<Uint8Array | 'too large'> {
  if (request.rawBody instanceof Uint8Array) return request.rawBody;
  if (typeof request.rawBody === 'string') return Buffer.from(request.rawBody);
  if (request.readableEnded || request.complete) return parsedAgain(request.body);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > MOST_BYTES) return 'too large';
    pieces.push(piece);
  }
  return pieces.length === 0 && request.body !== undefined ? parsedAgain(request.body) : Buffer.concat(pieces);
}

/** A parser before us has kept the value alone. A signature over the bytes cannot hold then; the webhook says so. */
function parsedAgain(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (typeof body === 'string') return Buffer.from(body);
  const isEmpty = body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);
  return isEmpty ? new Uint8Array() : Buffer.from(JSON.stringify(body));
}
