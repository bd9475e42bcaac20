import { createParser } from 'eventsource-parser';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { BASE_URL_SETTING } from '../../net/ask/bases.js';
import { BROKEN_REMEDY, type Upstream } from '../../net/ask/failures.js';
import type { OutboundReply } from '../../net/reply.js';

/** Largest event of a stream in bytes; a whole tool call may come in one. */
const MAX_EVENT_BYTES = 2 * 1024 * 1024;

/** Largest answer in one piece (a host that ignores `stream`) in bytes. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;

/** One event of an answer: a decoded chunk, or the `[DONE]` that ends it. */
export type ChatEvent = Record<string, unknown> | 'done';

function parseEvent(text: string, host: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Answered below, like every other value that is no object.
  }
  throw new Failure('model_failed', `${host} sent something that is not a JSON object where a piece of the answer was due.`, {
    code: 'BadAnswer',
  });
}

/** Collects the events that each piece of the body completes, and bounds what a piece may leave unfinished. */
class EventBuffer {
  readonly ready: ChatEvent[] = [];
  #pending = 0;
  readonly #decoder = new TextDecoder();
  readonly #parser;

  constructor(readonly host: string) {
    this.#parser = createParser({
      onEvent: ({ event, data }) => {
        this.#pending = 0;
        if (data.trim() === '') return;
        if (data.trim() === '[DONE]') this.ready.push('done');
        // Only unnamed events carry the answer; of the named ones only errors matter.
        else if (event === 'error') this.ready.push(errorEvent(data));
        else if (event === undefined || event === 'message') this.ready.push(parseEvent(data, host));
      },
      onComment: () => {
        this.#pending = 0;
      },
    });
  }

  /** May throw with events ready: those came before what is wrong. */
  feed(bytes: Uint8Array): void {
    this.#pending += bytes.byteLength;
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    if (this.#pending > MAX_EVENT_BYTES)
      throw new Failure('model_failed', `${this.host} sent a single event of more than ${MAX_EVENT_BYTES} bytes, which is the limit.`, {
        code: 'BadAnswer',
      });
  }

  /** The last event may lack its blank line. */
  flush(): void {
    this.#parser.feed('\n\n');
  }
}

function errorEvent(data: string): Record<string, unknown> {
  try {
    const value = JSON.parse(data) as Record<string, unknown>;
    return value?.error === undefined ? { error: value } : value;
  } catch {
    return { error: { message: data } };
  }
}

/** What the body is by its content type, or by its first bytes where the type does not say. */
function formOf(type: string, first: string): 'events' | 'whole' | 'other' {
  if (type.startsWith('text/event-stream')) return 'events';
  if (/^application\/(?:[\w.-]+\+)?json/.test(type)) return first.startsWith('data:') ? 'events' : 'whole';
  const start = first.trimStart();
  // A first piece may be as short as one byte.
  if (/^(data|event|id|retry)?:/.test(start) || (start !== '' && 'data:'.startsWith(start))) return 'events';
  return start.startsWith('{') ? 'whole' : 'other';
}

/**
 * The events of a successful answer; a host that answers in one JSON piece yields that piece and `done`. Reads `body` by hand: returning
 * early leaves it open, so that the caller decides between lingering and closing.
 */
export async function* chatEvents(
  reply: OutboundReply,
  body: AsyncIterator<Uint8Array>,
  { base: host, setting = BASE_URL_SETTING }: Pick<Upstream, 'base' | 'setting'>,
): AsyncGenerator<ChatEvent, void, undefined> {
  let next = await body.next();
  const type = (reply.header('content-type') ?? '').toLowerCase();
  const form = formOf(type, next.done ? '' : Buffer.from(next.value.subarray(0, 64)).toString('utf8'));
  if (form === 'other')
    throw new Failure(
      'model_failed',
      next.done
        ? `${host} sent an empty answer. ${BROKEN_REMEDY}`
        : `${host} answered with ${type.split(';')[0] || 'no content type'}, which is not the chat API: check ${setting}.`,
      { code: 'BadAnswer' },
    );
  if (form === 'whole') {
    yield parseEvent(await wholeBody(next, body, host), host);
    yield 'done';
    return;
  }
  const buffer = new EventBuffer(host);
  for (; !next.done; next = await body.next()) {
    try {
      buffer.feed(next.value);
    } catch (error) {
      yield* buffer.ready;
      throw error;
    }
    yield* buffer.ready.splice(0);
  }
  buffer.flush();
  yield* buffer.ready;
}

async function wholeBody(first: IteratorResult<Uint8Array>, body: AsyncIterator<Uint8Array>, host: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let next = first; !next.done; next = await body.next()) {
    size += next.value.byteLength;
    if (size > MAX_WHOLE_BYTES)
      throw new Failure('model_failed', `${host} sent an answer of more than ${MAX_WHOLE_BYTES} bytes in one piece, which is the limit.`, {
        code: 'BadAnswer',
      });
    pieces.push(next.value);
  }
  return Buffer.concat(pieces).toString('utf8');
}
