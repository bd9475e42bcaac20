import type { ErrorShape, PiecesReply } from '../../schemas/endpoint.js';
import { type Call, safeValue } from './call.js';
import { errorBody, failureOf, logFailure } from './errors.js';
import type { EventStream, HeaderList, OpenBody, SizedBody } from './transport.js';

/**
 * Sends a long answer piece by piece, each when the client has taken the one before. Never rejects: what fails before the first piece is handed to
 * `onFailureBeforeStart`, what fails later ends the connection. The pieces are told to return in any case.
 */
export async function sendPieces(
  call: Call,
  { status, pieces, length, contentType, headers = {} }: PiecesReply,
  onFailureBeforeStart: (error: unknown) => void,
): Promise<void> {
  const { exchange } = call;
  const iterator = pieces[Symbol.asyncIterator]();
  let body: SizedBody | OpenBody | undefined;
  const open = (): SizedBody | OpenBody => {
    call.answered = true;
    const named = Object.entries(headers).flatMap(([name, value]) => [name, safeValue(value)]);
    const list = [...call.headers(), 'Content-Type', contentType, ...named];
    return length === undefined ? exchange.unsized(status ?? 200, list) : exchange.sized(status ?? 200, list, length);
  };
  try {
    let left = length ?? Number.POSITIVE_INFINITY;
    for (let isWanted = !call.answered && !exchange.gone; isWanted; ) {
      const step = await iterator.next();
      if (exchange.gone) break;
      if (step.done && length === undefined) {
        body ??= open();
        if ('end' in body) body.end();
        break;
      }
      if (step.done || step.value.byteLength > left) throw new Error(`The pieces of an answer of ${length} bytes are not as long as that.`);
      left -= step.value.byteLength;
      body ??= open();
      isWanted = await body.write(step.value);
    }
  } catch (error) {
    if (!body) return onFailureBeforeStart(error);
    if (!exchange.gone) logFailure(failureOf(error), { id: call.id, method: exchange.method, path: exchange.path });
  } finally {
    body?.cut();
    await Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** The same items, and `last` once when they end, fail or are not wanted, be it before the first. */
export function andThen<Item>(items: AsyncIterable<Item>, last: () => unknown): AsyncIterableIterator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let ended: Promise<unknown> | undefined;
  const end = (): Promise<unknown> => {
    ended ??= Promise.resolve(last());
    return ended;
  };
  return {
    async next() {
      try {
        const step = await iterator.next();
        if (step.done) await end();
        return step;
      } catch (error) {
        await end();
        throw error;
      }
    },
    async return() {
      try {
        await iterator.return?.();
      } finally {
        await end();
      }
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** What a stream is answered with, besides the headers of every answer. */
export function streamHeaders(lines = false): HeaderList {
  const type = lines ? 'application/x-ndjson' : 'text/event-stream; charset=utf-8';
  return ['Content-Type', type, 'Cache-Control', 'no-cache', 'Connection', 'keep-alive', 'X-Accel-Buffering', 'no'];
}

/** How the items of a stream are sent. */
interface SendRules {
  readonly headers: HeaderList;
  /** As in `StreamReply`. */
  readonly lines?: boolean | undefined;
  readonly onFailureBeforeStart: (error: unknown) => void;
}

/** A stream that fails within this time of being asked for is answered with the failure's own status. */
const FIRST_EVENT_MS = 1_000;
/** A silent stream gets a comment this often: proxies keep it open, and a vanished client is noticed. */
const KEEP_ALIVE_MS = 15_000;
/** Text collected for one write; more than this waits for the client. */
const MAX_PENDING_CHARS = 64 * 1024;
const COMMENT = ': keep-alive\n\n';

/** Sends the events or lines of an iterable as they come; those that come within one turn of the event loop leave in one write. */
export class EventSender {
  #stream: EventStream | undefined;
  #pending = '';
  #flush: NodeJS.Immediate | undefined;
  #blocked = false;
  #timer: NodeJS.Timeout | undefined;
  #lastWrite = 0;

  constructor(
    private readonly call: Call,
    private readonly rules: SendRules,
  ) {}

  /** Runs the iterable to its end. Never rejects. When the client goes, the request's signal aborts and the iterator is told to return at once. */
  async run(events: AsyncIterable<string>): Promise<void> {
    const { exchange } = this.call;
    const iterator = events[Symbol.asyncIterator]();
    const { signal } = this.call;
    const leave = (): void => {
      this.#stop();
      Promise.resolve(iterator.return?.()).catch(() => undefined);
    };
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    // Readers of lines know no comments.
    if (!this.rules.lines) this.#timer = setTimeout(() => this.#keepAlive(), FIRST_EVENT_MS);
    try {
      for (;;) {
        const step = await iterator.next();
        if (exchange.gone) return;
        if (step.done) break;
        this.#add(step.value);
        if (this.#pending.length >= MAX_PENDING_CHARS) this.#send();
        if (this.#blocked) {
          await this.#stream?.ready();
          this.#blocked = false;
          this.#send();
        }
      }
      this.#finish();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#stop();
      signal.removeEventListener('abort', leave);
    }
  }

  #add(text: string): void {
    this.#pending += text;
    this.#flush ??= setImmediate(() => this.#send());
  }

  #send(): void {
    if (this.#flush) clearImmediate(this.#flush);
    this.#flush = undefined;
    if (this.#pending === '' || this.#blocked) return;
    const text = this.#pending;
    this.#pending = '';
    this.#lastWrite = performance.now();
    if (!this.#open().write(text)) this.#blocked = true;
  }

  #open(): EventStream {
    this.call.answered = true;
    this.#stream ??= this.call.exchange.stream(200, [...this.call.headers(), ...streamHeaders(this.rules.lines), ...this.rules.headers]);
    return this.#stream;
  }

  #keepAlive(): void {
    if (performance.now() - this.#lastWrite >= KEEP_ALIVE_MS - FIRST_EVENT_MS || this.#stream === undefined) {
      this.#pending ||= COMMENT;
      this.#send();
    }
    this.#timer = setTimeout(() => this.#keepAlive(), KEEP_ALIVE_MS);
  }

  #finish(): void {
    this.#blocked = false;
    this.#send();
    this.#open().end();
  }

  #fail(error: unknown): void {
    if (this.call.exchange.gone) return;
    if (this.#stream === undefined && this.#pending === '') {
      this.rules.onFailureBeforeStart(error);
      return;
    }
    const failure = failureOf(error);
    logFailure(failure, { id: this.call.id, method: this.call.exchange.method, path: this.call.exchange.path });
    this.#pending += failureFrames(error, this.call.errorShape, this.call.id);
    this.#finish();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    if (this.#flush) clearImmediate(this.#flush);
    this.#flush = undefined;
  }
}

/** How a failure ends a stream that has begun: one frame with the error body and, where chat clients wait for it, `[DONE]`. */
function failureFrames(error: unknown, shape: ErrorShape, requestId: string): string {
  if (shape === 'ollama') return `${JSON.stringify(errorBody(failureOf(error), shape, requestId))}\n`;
  if (shape === 'anthropic') return `event: error\ndata: ${JSON.stringify(errorBody(failureOf(error), shape, requestId))}\n\n`;
  const frame = `data: ${JSON.stringify(errorBody(failureOf(error), shape, requestId))}\n\n`;
  return shape === 'house' || shape === 'json-rpc' ? frame : `${frame}data: [DONE]\n\n`;
}
