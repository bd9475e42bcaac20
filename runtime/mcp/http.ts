import type { FetchLike } from '@modelcontextprotocol/client';
import type { AddressPolicy } from '../net/address.js';
import type { OutboundLimits } from '../net/limits.js';
import type { Outbound, OutboundRequest } from '../net/outbound.js';
import type { OutboundReply } from '../net/reply.js';
import { aboutServer, MAX_MESSAGE_BYTES, Noise, tooLong } from './limits.js';

/** A server's address stands in the project file, and somebody with rights on this machine agreed to it. */
const POLICY: AddressPolicy = 'operator';
/** A stream of events may be silent while a call works; the calls have limits of their own. */
const DAY_MS = 24 * 60 * 60 * 1000;
const LIMITS: OutboundLimits = { headersMs: DAY_MS, idleMs: DAY_MS, totalMs: DAY_MS, responseBytes: Number.POSITIVE_INFINITY };
const NEWLINE = 10;
const RETURN = 13;

/** `fetch` for the client library that goes out through `outbound`, under its rules for addresses, with bounded answers. */
export function fetchThrough(outbound: Outbound): FetchLike {
  const noise = new Noise();
  return async (url, init = {}) => {
    noise.forget();
    const request: OutboundRequest = {
      url,
      policy: POLICY,
      method: (init.method ?? 'GET') as NonNullable<OutboundRequest['method']>,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
      limits: LIMITS,
      ...(init.signal ? { signal: init.signal } : {}),
    };
    const reply = await outbound.request(request).catch((error: unknown) => {
      throw aboutServer('cannot be reached', error);
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(reply.headers)) for (const one of [value ?? []].flat()) headers.append(name, one);
    const hasBody = reply.status !== 204 && reply.status !== 304;
    if (!hasBody) reply.discard();
    const body = hasBody ? ReadableStream.from<Uint8Array>(boundedPieces(reply, noise)) : null;
    return new Response(body as ConstructorParameters<typeof Response>[0], { status: reply.status, headers });
  };
}

/** The pieces of an answer. Throws `too_large` for a message over the limit, `too_many` for a flood of messages. */
async function* boundedPieces(reply: OutboundReply, noise: Noise): AsyncGenerator<Uint8Array, void, undefined> {
  const isStream = reply.header('content-type')?.includes('text/event-stream') ?? false;
  let length = 0;
  let wasNewline = false;
  for await (const piece of reply.chunks()) {
    noise.add(piece.byteLength);
    let from = 0;
    if (isStream) {
      // An event ends at an empty line.
      for (let at = 0; at < piece.length; at += 1) {
        const byte = piece[at]!;
        if (byte === RETURN) continue;
        if (byte === NEWLINE && wasNewline) {
          length = 0;
          from = at + 1;
        }
        wasNewline = byte === NEWLINE;
      }
    }
    length += piece.length - from;
    if (length > MAX_MESSAGE_BYTES) throw tooLong(length);
    yield piece;
  }
}
