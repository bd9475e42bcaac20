import { cut, isCuttable, type Past } from './past-states.js';

/** Texts of which it is kept what was seen. */
const HISTORY_LIMIT = 2;
/** The same where no beginning can be cut: a prompt and what it became with its answer are kept apart. */
const WHOLE_LIMIT = 4;

/** Of all that is kept together, in bytes; the newest stays whatever it takes. */
const BYTES_LIMIT = 1024 ** 3;

interface History {
  readonly tokens: Int32Array;
  readonly past: Past;
}

/** What was seen by the newest generations, so that a prompt with the same beginning need not be read again. */
export class Histories {
  #histories: History[] = [];
  readonly #bytesLimit: number;

  constructor(bytesLimit = BYTES_LIMIT) {
    this.#bytesLimit = bytesLimit;
  }

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

  /** What was seen of the first `past.length` tokens; the oldest go where it is too much. */
  keep(tokens: Int32Array, past: Past): void {
    const own = tokens.slice(0, past.length);
    const others = this.#histories.filter((one) => one.tokens.length !== own.length || own.some((token, at) => token !== one.tokens[at]));
    let bytes = bytesOf(past);
    const kept = others.filter((one) => {
      bytes += bytesOf(one.past);
      return bytes <= this.#bytesLimit;
    });
    this.#histories = [{ tokens: own, past }, ...kept].slice(0, isCuttable(past) ? HISTORY_LIMIT : WHOLE_LIMIT);
  }
}

const bytesOf = ({ tensors }: Past): number => Object.values(tensors).reduce((sum, { data }) => sum + data.byteLength, 0);
