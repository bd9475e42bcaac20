/** A piece of output text, told apart. */
export interface SplitPiece {
  type: 'text' | 'reasoning';
  text: string;
}

const OPEN = '<think>';
const CLOSE = '</think>';

/** Length of the longest end of `text` that may grow into one of the lower-case `tags`. */
export function partialTagLength(text: string, tags: readonly string[]): number {
  const longest = Math.max(...tags.map((tag) => tag.length)) - 1;
  const tail = text.slice(-longest).toLowerCase();
  for (let length = tail.length; length > 0; length -= 1) {
    const end = tail.slice(tail.length - length);
    if (tags.some((tag) => tag.length > length && tag.startsWith(end))) return length;
  }
  return 0;
}

/**
 * Separates `<think>…</think>` blocks at the start of an answer from its text, as the text streams in. Tags are found in any letter case
 * and across chunks; a block that never closes is all reasoning; a stray `</think>` is dropped; blank space around a block is dropped.
 * The joined result does not depend on how the input was cut.
 */
export class ThinkingSplitter {
  #thinking: boolean;
  /** Text is still blank, so an opening tag counts and blank space waits. */
  #atStart = true;
  /** Undecided characters: a possible tag, or blank space whose place is not known yet. */
  #held = '';

  /** `startsInThinking`: the prompt already opened a block. */
  constructor(startsInThinking = false) {
    this.#thinking = startsInThinking;
  }

  /** True while inside a block. */
  get thinking(): boolean {
    return this.#thinking;
  }

  /** Takes the next text and returns what is decided. */
  push(text: string): SplitPiece[] {
    this.#held += text;
    const pieces: SplitPiece[] = [];
    while (this.#thinking ? this.#inThinking(pieces) : this.#inText(pieces));
    return pieces;
  }

  /** Returns what was still held back at the end of the output. */
  end(): SplitPiece[] {
    const rest = this.#held;
    this.#held = '';
    const text = this.#thinking ? (this.#atStart ? rest.trim() : rest.trimEnd()) : rest;
    if (text === '' || (this.#atStart && !this.#thinking && text.trim() === '')) return [];
    return [{ type: this.#thinking ? 'reasoning' : 'text', text }];
  }

  /** Each returns true when the state changed and the rest must be looked at again. */
  #inThinking(pieces: SplitPiece[]): boolean {
    if (this.#atStart) this.#held = this.#held.trimStart();
    const close = this.#held.toLowerCase().indexOf(CLOSE);
    if (close >= 0) {
      this.#emit(pieces, 'reasoning', this.#held.slice(0, close).trimEnd());
      this.#held = this.#held.slice(close + CLOSE.length);
      this.#thinking = false;
      this.#atStart = true;
      return true;
    }
    const tag = partialTagLength(this.#held, [CLOSE]);
    const kept = this.#held.slice(0, this.#held.length - tag).trimEnd().length;
    this.#emit(pieces, 'reasoning', this.#held.slice(0, kept));
    this.#held = this.#held.slice(kept);
    return false;
  }

  #inText(pieces: SplitPiece[]): boolean {
    const lower = this.#held.toLowerCase();
    if (this.#atStart) {
      const trimmed = lower.trimStart();
      if (trimmed.startsWith(OPEN)) {
        this.#held = this.#held.trimStart().slice(OPEN.length);
        this.#thinking = true;
        return true;
      }
      if (trimmed === '' || (trimmed.length < OPEN.length && OPEN.startsWith(trimmed))) return false;
    }
    const close = lower.indexOf(CLOSE);
    if (close >= 0) {
      this.#emitText(pieces, this.#held.slice(0, close));
      this.#held = this.#held.slice(close + CLOSE.length);
      return true;
    }
    const kept = this.#held.length - partialTagLength(this.#held, [CLOSE]);
    this.#emitText(pieces, this.#held.slice(0, kept));
    this.#held = this.#held.slice(kept);
    return false;
  }

  /** Blank space before the first text is dropped only where a block or stray tag came before it. */
  #emitText(pieces: SplitPiece[], text: string): void {
    if (text === '' || (this.#atStart && text.trim() === '')) return;
    this.#emit(pieces, 'text', this.#atStart && this.#closed ? text.trimStart() : text);
  }

  #emit(pieces: SplitPiece[], type: SplitPiece['type'], text: string): void {
    if (text === '') return;
    this.#atStart = false;
    pieces.push({ type, text });
  }
}
