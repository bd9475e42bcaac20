import type { FetchLike } from '@modelcontextprotocol/client';
import { Failure } from '../../schemas/errors.js';
import type { AddressPolicy } from '../net/address.js';
import type { Outbound, OutboundLimits, OutboundRequest } from '../net/outbound.js';
import type { OutboundReply } from '../net/reply.js';
import { aboutServer, MAX_MESSAGE_BYTES, Noise, tooLong } from './limits.js';

/** A server's address stands in the project file, and somebody with rights on this machine agreed to it. */
const POLICY: AddressPolicy = 'operator';
/** A stream of events may be silent while a call works; the calls have limits of their own. */
const DAY_MS = 24 * 60 * 60 * 1000;
const LIMITS: OutboundLimits = { headersMs: DAY_MS, idleMs: DAY_MS, totalMs: DAY_MS, responseBytes: Number.POSITIVE_INFINITY };
const NEWLINE = 10;
const ID_FIELD = 'id:';
/** So long after the end of a stream what it brought has been read. */
const SETTLE_MS = 250;

/** What is told of answers that the client library would wait for without end. */
export interface HttpEvents {
  /** The answer to the request of this number has ended, so that nothing comes any more if nothing came. The message continues a sentence about the server. */
  ended(id: number, failure: Failure): void;
  /** A server sends more than anybody could want to read. */
  flooded(failure: Failure): void;
}

/** `fetch` for the client library that goes out through `outbound`, under its rules for addresses, with bounded answers. */
export function fetchThrough(outbound: Outbound, events: HttpEvents): FetchLike {
  const noise = new Noise();
  return async (url, init = {}) => {
    noise.forget();
    const body = typeof init.body === 'string' ? init.body : undefined;
    const request: OutboundRequest = {
      url,
      policy: POLICY,
      method: (init.method ?? 'GET') as NonNullable<OutboundRequest['method']>,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(body === undefined ? {} : { body }),
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
    const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false;
    const pieces = isStream ? eventPieces(reply, noise, events, requestId(body)) : jsonPieces(reply);
    const stream = hasBody ? ReadableStream.from<Uint8Array>(pieces) : null;
    return new Response(stream as ConstructorParameters<typeof Response>[0], { status: reply.status, headers });
  };
}

/** The number of the request in a message of the client library, which puts it last. */
function requestId(body: string | undefined): number | undefined {
  const [, id] = /"id":(\d{1,15})\}$/.exec(body?.slice(-32) ?? '') ?? [];
  return id === undefined ? undefined : Number(id);
}

/** The pieces of one message. Throws `too_large`. */
async function* jsonPieces(reply: OutboundReply): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const piece of reply.chunks()) {
    bytes += piece.byteLength;
    if (bytes > MAX_MESSAGE_BYTES) throw tooLong(bytes);
    yield piece;
  }
}

/** The pieces of a stream of events, each with at most one message. Throws `too_large` for a longer event, `too_many` for a flood. */
async function* eventPieces(
  reply: OutboundReply,
  noise: Noise,
  events: HttpEvents,
  id: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const lines = new EventLines();
  let failure = new Failure('unavailable', 'ended its answer before it was complete');
  try {
    for await (const piece of reply.chunks()) {
      noise.add(piece.byteLength);
      lines.add(piece);
      yield piece;
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    failure = error;
    if (error.kind === 'too_many' || (error.kind === 'too_large' && id === undefined)) events.flooded(error);
    throw error;
  } finally {
    // A stream whose events have names is asked for again by the client library.
    const goesOn = lines.haveIds && failure.kind === 'unavailable';
    if (id !== undefined && !goesOn) setTimeout(() => events.ended(id, failure), SETTLE_MS).unref();
  }
}

/** Follows the lines of a stream of events. */
class EventLines {
  /** Whether an event had an id, by which the stream can be continued. */
  haveIds = false;
  #eventBytes = 0;
  #lineBytes = 0;
  #lineStart = '';

  /** Throws `too_large` when an event is longer than a message may be. */
  add(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) {
      const found = piece.indexOf(NEWLINE, from);
      const end = found < 0 ? piece.length : found;
      if (this.#lineBytes < ID_FIELD.length)
        this.#lineStart += Buffer.from(piece.subarray(from, Math.min(end, from + ID_FIELD.length))).toString('latin1');
      this.#lineBytes += end - from;
      this.#eventBytes += end - from;
      if (this.#eventBytes > MAX_MESSAGE_BYTES) throw tooLong(this.#eventBytes);
      if (found < 0) return;
      if (this.#lineStart.startsWith(ID_FIELD)) this.haveIds = true;
      // An event ends at an empty line.
      if (this.#lineStart === '' || this.#lineStart === '\r') this.#eventBytes = 0;
      this.#lineBytes = 0;
      this.#lineStart = '';
      from = found + 1;
    }
  }
}
