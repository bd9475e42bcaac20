import { Failure } from '../../../schemas/errors.js';
import type { Accepted } from '../../net/ask/chat.js';
import { brokenAnswerFailure, streamFailure, type Upstream } from '../../net/ask/failures.js';
import type { OutboundReply } from '../../net/reply.js';
import type { CompletionPart, ContextUsage } from '../contract.js';
import { ChunkReader } from './chunks.js';
import { type ChatEvent, chatEvents } from './events.js';

/** Wait for usage or `[DONE]` after the finish reason has come, in milliseconds. */
const TRAILER_MS = 2000;

/** The answer of a host as it comes in: read until the first part by `prime`, from there by whoever iterates `parts`. */
export class Answer {
  readonly #reply: OutboundReply;
  readonly #upstream: Upstream;
  readonly #body: AsyncIterator<Uint8Array>;
  readonly #events: AsyncIterator<ChatEvent>;
  readonly #reader: ChunkReader;
  #first: CompletionPart[] = [];
  #over = false;

  constructor(
    { reply, upstream }: Accepted,
    choices = 1,
    readonly trailerMs = TRAILER_MS,
  ) {
    this.#reader = new ChunkReader(choices);
    this.#reply = reply;
    this.#upstream = upstream;
    this.#body = reply.chunks();
    this.#events = chatEvents(reply, this.#body, upstream);
  }

  /** The model as the host names it. */
  get model(): string | undefined {
    return this.#reader.model;
  }

  /** How full the context was; our own runtime says it with the finish. */
  get contextUsage(): ContextUsage | undefined {
    return this.#reader.contextUsage;
  }

  /** Waits for the first part, so that a host that fails at once fails the call and not the stream. */
  async prime(): Promise<void> {
    while (!this.#over && this.#first.length === 0) this.#first = await this.#step();
  }

  /** The parts, once. Leaving the loop closes the socket. */
  async *parts(): AsyncGenerator<CompletionPart, void, undefined> {
    try {
      yield* this.#first.splice(0);
      while (!this.#over) yield* await this.#step();
    } finally {
      if (!this.#over) this.#reply.discard();
    }
  }

  /** One event's parts; with the last come the held-back ones and the finish. */
  async #step(): Promise<CompletionPart[]> {
    try {
      const event = await this.#next();
      if (event === undefined || event === 'done') return this.#end(event === 'done');
      if (event.error !== undefined && event.error !== null) throw streamFailure(event, this.#upstream);
      return this.#reader.read(event);
    } catch (error) {
      this.#over = true;
      this.#reply.discard();
      throw brokenAnswerFailure(error, this.#upstream);
    }
  }

  #end(done: boolean): CompletionPart[] {
    const { name, base } = this.#upstream;
    if (!this.#reader.started) throw new Failure('model_failed', `${base} sent an empty answer.`, { code: 'BadAnswer' });
    if (!done && !this.#reader.whole)
      throw new Failure('model_failed', `Model '${name}': ${base} broke off in the middle of its answer.`, { code: 'AnswerTruncated' });
    this.#over = true;
    if (done) void this.#reply.drain(this.#body);
    else this.#reply.discard();
    return this.#reader.end();
  }

  /** The next event. Once the finish reasons are there, what is missing is only usage: a host that hangs or breaks then has answered. */
  async #next(): Promise<ChatEvent | undefined> {
    const pending = this.#events.next();
    if (!this.#reader.finished) {
      const next = await pending;
      return next.done ? undefined : next.value;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.trailerMs);
    });
    const trailer = pending.then(
      (next) => (next.done ? undefined : next.value),
      () => undefined,
    );
    try {
      return await Promise.race([trailer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
