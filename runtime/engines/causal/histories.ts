import { cut, type Past } from './decoder.js';

/** Texts whose keys and values are kept. */
const HISTORY_LIMIT = 2;

interface History {
  readonly tokens: Int32Array;
  readonly past: Past;
}

/** What was seen by the newest generations, so that a prompt with the same beginning need not be read again. */
export class Histories {
  #histories: History[] = [];

  /** What of a prompt was seen; at least its last token is left to read. */
  find(prompt: Int32Array): Past | undefined {
    let best: { past: Past; length: number } | undefined;
    for (const { tokens, past } of this.#histories) {
      let length = 0;
      while (length < tokens.length && length < prompt.length - 1 && tokens[length] === prompt[length]) length += 1;
      if (length > (best?.length ?? 0)) best = { past, length };
    }
    return best && cut(best.past, best.length);
  }

  keep(tokens: Int32Array, past: Past): void {
    this.#histories = [{ tokens: tokens.slice(0, past.length), past }, ...this.#histories].slice(0, HISTORY_LIMIT);
  }
}
