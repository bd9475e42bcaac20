import { cut, isCuttable, type Past } from './past.js';

/** Texts of which it is kept what was seen. */
const HISTORY_LIMIT = 2;
/** The same where no beginning can be cut: a prompt and what it became with its answer are kept apart. */
const WHOLE_LIMIT = 4;

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
      const isUsable = length === past.length || isCuttable(past);
      if (isUsable && length > (best?.length ?? 0)) best = { past, length };
    }
    return best && cut(best.past, best.length);
  }

  keep(tokens: Int32Array, past: Past): void {
    const limit = isCuttable(past) ? HISTORY_LIMIT : WHOLE_LIMIT;
    this.#histories = [{ tokens: tokens.slice(0, past.length), past }, ...this.#histories].slice(0, limit);
  }
}
