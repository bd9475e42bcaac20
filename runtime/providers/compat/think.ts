/** A stretch of an answer: what the model thinks, or what it says. */
export interface Stretch {
  type: 'text' | 'reasoning';
  text: string;
}

const OPEN = '<think>';
const CLOSE = '</think>';

/** Length of the longest end of `text` that begins `tag`. */
function heldTail(text: string, tag: string): number {
  for (let size = Math.min(tag.length - 1, text.length); size > 0; size--) if (tag.startsWith(text.slice(-size).toLowerCase())) return size;
  return 0;
}

/**
 * Splits a leading `<think>...</think>` block from the text that follows, as it streams in. Only a block at the very start counts: tags
 * later in an answer are the answer's own words. An unclosed block is all reasoning.
 */
export class ThinkSplitter {
  #state: 'start' | 'thinking' | 'after' | 'text' = 'start';
  #held = '';

  /** Stops looking for a block: the host separates reasoning itself, or the answer has begun. */
  skip(): void {
    if (this.#state === 'start' && this.#held === '') this.#state = 'text';
  }

  /** Takes the next text and returns what is certain by now. */
  feed(text: string): Stretch[] {
    if (this.#state === 'text') return text === '' ? [] : [{ type: 'text', text }];
    const out: Stretch[] = [];
    this.#held += text;
    if (this.#state === 'start') this.#begin();
    if (this.#state === 'thinking') this.#think(out);
    if (this.#state === 'after') {
      this.#held = this.#held.trimStart();
      if (this.#held !== '') this.#state = 'text';
    }
    if (this.#state === 'text') out.push(...this.end());
    return out;
  }

  /** Returns what was held back; the answer is over. */
  end(): Stretch[] {
    const text = this.#held;
    this.#held = '';
    if (text === '' || this.#state === 'after') return [];
    return [{ type: this.#state === 'thinking' ? 'reasoning' : 'text', text }];
  }

  #begin(): void {
    const seen = this.#held.trimStart().slice(0, OPEN.length).toLowerCase();
    if (seen === OPEN) {
      this.#state = 'thinking';
      this.#held = this.#held.trimStart().slice(OPEN.length);
    } else if (!OPEN.startsWith(seen)) {
      this.#state = 'text';
    }
  }

  #think(out: Stretch[]): void {
    const end = this.#held.toLowerCase().indexOf(CLOSE);
    const cut = end >= 0 ? end : this.#held.length - heldTail(this.#held, CLOSE);
    if (cut > 0) out.push({ type: 'reasoning', text: this.#held.slice(0, cut) });
    this.#held = this.#held.slice(end >= 0 ? end + CLOSE.length : cut);
    if (end >= 0) this.#state = 'after';
  }
}
