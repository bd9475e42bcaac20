import type { LanguageInfo } from '../engines/contracts/language.js';
import type { PlainMessage } from './messages.js';

/** How a model is told to think or not. */
export interface ThinkingPlan {
  /** For templates that take `enable_thinking`. */
  enableThinking?: boolean;
  /** For models that read a word in the last user message. */
  softSwitch?: '/think' | '/no_think';
}

/** Efforts with which a model does not reason before it answers. */
const NO_EFFORT: ReadonlySet<string> = new Set(['none', 'minimal']);

/** What an effort, as OpenAI's clients name one, says of thinking; undefined where none is given. */
export function thinkOf(effort: string | null | undefined): boolean | undefined {
  return effort ? !NO_EFFORT.has(effort) : undefined;
}

const SWITCH_WORD = /(?:^|\s)\/(?:no_)?think(?:\s|$)/;

/** Chooses the switch that a model's template understands; only `true` turns thinking on. */
export function thinkingPlan(info: Pick<LanguageInfo, 'template' | 'architecture'>, think: boolean | undefined): ThinkingPlan {
  const on = think === true;
  if (info.template.thinking) return { enableThinking: on };
  const knowsWord = /\/(?:no_)?think\b/.test(info.template.text ?? '') || /^qwen3/i.test(info.architecture);
  return knowsWord ? { softSwitch: on ? '/think' : '/no_think' } : {};
}

/** Appends the soft switch to the last user message, unless a switch stands there already. The input stays as it is. */
export function withSoftSwitch(messages: readonly PlainMessage[], plan: ThinkingPlan): PlainMessage[] {
  const at = plan.softSwitch ? messages.findLastIndex((message) => message.role === 'user') : -1;
  return messages.map((message, index) =>
    index === at && !SWITCH_WORD.test(message.content) ? { ...message, content: `${message.content} ${plan.softSwitch}` } : message,
  );
}

/** A piece of output text, told apart. */
export interface SplitPiece {
  type: 'text' | 'reasoning';
  text: string;
}

const OPEN = '<think>';
const CLOSE = '</think>';
const CLOSE_PATTERN = /<\/think>/i;

/** Length of the longest end of `text` that may grow into `tag`; a lower-case tag is found in any letter case when `anyCase`. */
export function partialTagLength(text: string, tag: string, anyCase = false): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    const end = text.slice(text.length - length);
    if (tag.startsWith(anyCase ? end.toLowerCase() : end)) return length;
  }
  return 0;
}

/** How an output ended; empty where the model ended it. */
export interface Ending {
  /** It ran out of tokens. */
  readonly isCut?: boolean;
  /** The stop text that was found behind it. */
  readonly stopText?: string | undefined;
}

/** Characters at the end of an output that ran out of tokens which are a tag that was begun, and no text. */
const BEGUN = 2;

/** Whether an output ended inside a tag, of which it has the first `begun` characters: a stop text tells whether the tag went on in it. */
export function endsInTag(begun: number, tag: string, { isCut, stopText }: Ending): boolean {
  if (stopText === undefined) return isCut === true && begun >= BEGUN;
  const rest = tag.slice(begun);
  return rest.startsWith(stopText) || stopText.startsWith(rest);
}

/** An output without the tag inside which it ended. */
export function withoutPartialTag(text: string, tag: string, ending: Ending, anyCase = false): string {
  const begun = partialTagLength(text, tag, anyCase);
  return endsInTag(begun, tag, ending) ? text.slice(0, text.length - begun) : text;
}

/**
 * Separates `<think>…</think>` blocks at the start of an answer from its text, as the text streams in. Tags are found in any letter case
 * and across chunks; a block that never closes is all reasoning; a stray `</think>` is dropped; blank space around a block is dropped.
 * The joined result does not depend on how the input was cut.
 */
export class ThinkingSplitter {
  #thinking: boolean;
  /** Text is still blank, so an opening tag counts and blank space waits. */
  #atStart: boolean;
  /** A closing tag was seen. */
  #closed = false;
  /** Undecided characters: a possible tag, or blank space whose place is not known yet. */
  #held = '';

  /** `startsInThinking`: the prompt already opened a block; `goesOn`: the text of the answer has begun in the prompt. */
  constructor(startsInThinking = false, goesOn = false) {
    this.#thinking = startsInThinking;
    this.#atStart = !goesOn;
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

  /** Returns what was still held back at the end of the output; a tag inside which it ended is left out. */
  end(ending: Ending = {}): SplitPiece[] {
    const pieces: SplitPiece[] = [];
    const mayOpen = this.#atStart && !this.#thinking;
    const closed = withoutPartialTag(this.#held, CLOSE, ending, true);
    const rest = mayOpen ? withoutPartialTag(closed, OPEN, ending, true) : closed;
    this.#held = '';
    if (this.#thinking) this.#emit(pieces, 'reasoning', this.#atStart ? rest.trim() : rest.trimEnd());
    else this.#emitText(pieces, rest);
    return pieces;
  }

  /** Each returns true when the state changed and the rest must be looked at again. */
  #inThinking(pieces: SplitPiece[]): boolean {
    if (this.#atStart) this.#held = this.#held.trimStart();
    const close = this.#held.search(CLOSE_PATTERN);
    if (close >= 0) {
      this.#emit(pieces, 'reasoning', this.#held.slice(0, close).trimEnd());
      this.#closeAt(close);
      this.#thinking = false;
      this.#atStart = true;
      return true;
    }
    const undecided = partialTagLength(this.#held, CLOSE, true);
    this.#release(pieces, this.#held.slice(0, this.#held.length - undecided).trimEnd().length, 'reasoning');
    return false;
  }

  #inText(pieces: SplitPiece[]): boolean {
    if (this.#atStart) {
      const start = this.#held.trimStart();
      const head = start.slice(0, OPEN.length).toLowerCase();
      if (head === OPEN) {
        this.#held = start.slice(OPEN.length);
        this.#thinking = true;
        return true;
      }
      if (start.length < OPEN.length && OPEN.startsWith(head)) return false;
    }
    const close = this.#held.search(CLOSE_PATTERN);
    if (close >= 0) {
      const text = this.#held.slice(0, close);
      if (!this.#atStart || text.trim() !== '') this.#emitText(pieces, text);
      this.#closeAt(close);
      return true;
    }
    this.#release(pieces, this.#held.length - partialTagLength(this.#held, CLOSE, true), 'text');
    return false;
  }

  #closeAt(index: number): void {
    this.#held = this.#held.slice(index + CLOSE.length);
    this.#closed = true;
  }

  #release(pieces: SplitPiece[], length: number, type: SplitPiece['type']): void {
    const text = this.#held.slice(0, length);
    if (type === 'text' && this.#atStart && text.trim() === '') return;
    this.#held = this.#held.slice(length);
    if (type === 'text') this.#emitText(pieces, text);
    else this.#emit(pieces, type, text);
  }

  /** Blank space before the first text is dropped only where a block or a stray tag came before it. */
  #emitText(pieces: SplitPiece[], text: string): void {
    this.#emit(pieces, 'text', this.#atStart && this.#closed ? text.trimStart() : text);
  }

  #emit(pieces: SplitPiece[], type: SplitPiece['type'], text: string): void {
    if (text === '') return;
    this.#atStart = false;
    pieces.push({ type, text });
  }
}
