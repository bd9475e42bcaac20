import type { GenerateEvent } from '../contracts/language.js';

/** The events of one generation on their way to a reader; what a slow reader has not taken is merged, so memory is bounded by the answer. */
export class EventStream {
  #event: GenerateEvent | undefined;
  #error: unknown;
  #failed = false;
  #wake: (() => void) | undefined;
  /** True once the last event or a failure has come. */
  ended = false;

  push(event: GenerateEvent): void {
    if (this.ended) return;
    this.ended = event.finish !== undefined;
    this.#event = this.#event ? merged(this.#event, event) : event;
    this.#wake?.();
  }

  fail(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.#failed = true;
    this.#error = error;
    this.#wake?.();
  }

  /** All that came since the last call, or the next that comes; rejects with the failure, or with the signal's reason. */
  async next(signal: AbortSignal): Promise<GenerateEvent> {
    const wake = (): void => this.#wake?.();
    while (true) {
      signal.throwIfAborted();
      const event = this.#event;
      this.#event = undefined;
      if (event) return event;
      if (this.#failed) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', wake, { once: true });
      });
      signal.removeEventListener('abort', wake);
      this.#wake = undefined;
    }
  }
}

function merged(first: GenerateEvent, second: GenerateEvent): GenerateEvent {
  const out: GenerateEvent = { ...second, text: first.text + second.text, tokens: first.tokens + second.tokens };
  if (first.logprobs) out.logprobs = [...first.logprobs, ...(second.logprobs ?? [])];
  return out;
}
