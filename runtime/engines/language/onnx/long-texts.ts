import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../../../schemas/errors.js';
import { fromWire, type WireFailure } from '../../../hosts/protocol.js';

/** Texts of up to so many characters are tokenised at once, which takes some tens of milliseconds; longer ones in a thread. */
export const SHORT_CHARACTERS = 16_000;
/** A thread without work ends after so long: it holds the vocabulary a second time. */
const IDLE_MS = 60_000;

/** What the thread is asked for. */
export interface LongText {
  readonly text: string;
  readonly framed: boolean;
}

/** What it answers. */
export type LongAnswer = { readonly ids: Int32Array } | { readonly failure: WireFailure };

/**
 * Tokenises long texts of one model in a thread of its own, one after the other, so that the answers and calls of the host go on meanwhile. The thread begins with the first
 * text, which costs as much as opening the tokenizer.
 */
export class LongTexts {
  readonly #folder: string;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `folder` has the model's `config.json` and `tokenizer.json`. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** As `TextTokenizer.encode`. Rejects with the signal's reason once that is aborted, at once: the thread is ended with its work. */
  encode(text: string, framed: boolean, signal: AbortSignal): Promise<Int32Array> {
    const work = this.#last.then(() => this.#encode({ text, framed }, signal));
    this.#last = work.catch(() => undefined);
    return work;
  }

  async #encode(task: LongText, signal: AbortSignal): Promise<Int32Array> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    this.#worker ??= new Worker(new URL('./long-texts-thread.js', import.meta.url), { workerData: this.#folder });
    const worker = this.#worker;
    worker.ref();
    try {
      worker.postMessage(task);
      // Rejects when the thread fails, which emits `error`.
      const [answer] = (await once(worker, 'message', { signal })) as [LongAnswer];
      worker.unref();
      this.#idle = setTimeout(() => this.#end(), IDLE_MS);
      this.#idle.unref();
      if ('failure' in answer) throw fromWire(answer.failure);
      return answer.ids;
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      this.#end();
      signal.throwIfAborted();
      throw new Failure(
        'too_large',
        `A text of ${task.text.length} characters is more than this model's tokenizer can deal with; send less.`,
        {
          cause,
        },
      );
    }
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}
