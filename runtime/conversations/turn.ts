import { Failure } from '../../schemas/errors.js';
import type { Message, TurnBegun } from '../../schemas/generated/core/conversations.js';
import { log } from '../base/log.js';
import type { ChatTurn } from '../chat/turn.js';
import { DONE } from '../completions/wire.js';
import type { ConversationMessage } from '../store/records.js';
import type { GrowingAnswer } from './answer.js';

/** An answer that grows is written down this often, in milliseconds. */
const SAVE_EVERY_MS = 1_000;

/** What a turn is run with. */
interface TurnParts {
  readonly begun: TurnBegun;
  readonly answer: GrowingAnswer;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Asks the model. */
  open(signal: AbortSignal): Promise<ChatTurn>;
  /** Writes the answer down as it is; `isLast` at its end. */
  save(one: ConversationMessage, isLast: boolean): Promise<void>;
  /** Called once, when nothing more is written. */
  over(): void;
}

/** A turn under way: asked once, read by one client, and written down whatever becomes of that client. */
export class RunningTurn {
  /** Settles when the answer is on disk, with what is there; rejects where the disk refused it. */
  readonly ended: Promise<Message>;
  readonly begun: TurnBegun;
  readonly #parts: TurnParts;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #status: Message['status'] = 'cut';
  #isRead = false;
  #ending: Promise<Message> | undefined;
  #saving: Promise<void> | undefined;
  #savedMs = performance.now();
  #settle!: (message: Promise<Message>) => void;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.begun = parts.begun;
    this.#signal = AbortSignal.any([parts.signal, this.#stop.signal]);
    this.ended = new Promise((resolve) => (this.#settle = resolve));
    this.ended.catch(() => undefined);
    // Nobody begins to read what a client wanted that has left already.
    const left = (): void => {
      if (!this.#isRead) void this.#end().catch(() => undefined);
    };
    if (parts.signal.aborted) queueMicrotask(left);
    else parts.signal.addEventListener('abort', left, { once: true });
  }

  /** Ends the turn and resolves when what was written is on disk: `stopped` where somebody wanted that, `cut` where the daemon ends. */
  async end(status: 'stopped' | 'cut'): Promise<void> {
    if (!this.#stop.signal.aborted) this.#status = status;
    this.#stop.abort(new Failure('unavailable', 'The answer was stopped.', { code: 'Stopped' }));
    if (!this.#isRead) await this.#end().catch(() => undefined);
    else await this.ended.catch(() => undefined);
  }

  /** The answer as far as it is written, where this message is it and more of it comes. */
  shown(id: string): Message | undefined {
    return id === this.begun.assistant.id ? this.#parts.answer.message('running').message : undefined;
  }

  /** The turn as text of server-sent events; read once. */
  async *frames(): AsyncGenerator<string, void, undefined> {
    this.#isRead = true;
    try {
      yield eventFrame('turn', this.begun);
      yield* this.#answer();
      const message = await this.#end();
      yield eventFrame('message', message) + DONE;
    } finally {
      // A client that leaves ends the loop here.
      await this.#end().catch((error: unknown) => log('warn', 'an answer could not be stored', { error }));
    }
  }

  async *#answer(): AsyncGenerator<string, void, undefined> {
    const { answer } = this.#parts;
    try {
      const turn = await this.#parts.open(this.#signal);
      answer.opened(turn);
      for await (const text of turn.frames({ part: (part) => this.#part(part), failed: (error) => answer.failed(error) })) {
        if (this.#signal.aborted) break;
        yield text.endsWith(DONE) ? text.slice(0, -DONE.length) : text;
      }
      if (answer.isFinished) this.#status = 'done';
      else if (!this.#signal.aborted) this.#status = 'failed';
    } catch (failure) {
      if (this.#signal.aborted) return;
      this.#status = 'failed';
      answer.failed(failure);
      if (!(failure instanceof Failure)) log('error', 'a turn of a conversation failed', { error: failure });
      const { code, kind } = failure instanceof Failure ? failure : { code: 'internal', kind: 'internal' };
      yield `data: ${JSON.stringify({ error: { message: answer.error, type: kind, param: null, code } })}\n\n`;
    }
  }

  #part(part: Parameters<GrowingAnswer['part']>[0]): void {
    this.#parts.answer.part(part);
    const nowMs = performance.now();
    if (this.#saving || this.#ending || nowMs - this.#savedMs < SAVE_EVERY_MS) return;
    this.#savedMs = nowMs;
    this.#saving = this.#parts
      .save(this.#parts.answer.message('cut'), false)
      // What does not fit now is told at the end.
      .catch((error: unknown) => log('warn', 'a growing answer could not be stored', { error }))
      .finally(() => {
        this.#saving = undefined;
      });
  }

  #end(): Promise<Message> {
    this.#ending ??= this.#store();
    return this.#ending;
  }

  async #store(): Promise<Message> {
    const storing = (async () => {
      await this.#saving;
      const last = this.#parts.answer.message(this.#status);
      await this.#parts.save(last, true);
      return last.message;
    })();
    this.#settle(storing);
    try {
      return await storing;
    } finally {
      this.#parts.over();
    }
  }
}

/** An event with a name. */
export function eventFrame(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
