/**
 * Keeps texts of a conversation from becoming control tokens (threat T13): a message that contains `<|im_end|>` must not end its own turn.
 * Such a text gets a mark after its first character before the template is rendered, and the rendered prompt is tokenised in pieces cut
 * at the marks, so that no piece holds the whole text. The model reads the same characters, as ordinary tokens. Texts of user-defined
 * tokens, such as `<tool_call>`, stay tokens: prompts that teach tools need them.
 */
const MARK = '\uFDD0';
/** The mark itself, and as `tojson` with ASCII escapes writes it. */
const MARKS = /\uFDD0|\\ufdd0/g;
const FOREIGN_MARKS = /\uFDD0/g;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Marks and cuts control texts of one vocabulary. */
export class ControlGuard {
  readonly #control: RegExp | undefined;

  constructor(controlTexts: readonly string[]) {
    // One character cannot be cut; longest first, so that of two texts with a common beginning the whole one is found.
    const texts = controlTexts.filter((text) => text.length > 1).sort((a, b) => b.length - a.length);
    this.#control = texts.length > 0 ? new RegExp(texts.map(escaped).join('|'), 'g') : undefined;
  }

  /** `value` with every control text in every string marked. */
  mark<T>(value: T): T {
    if (!this.#control) return value;
    return this.#walk(value) as T;
  }

  /** The rendered prompt in pieces; joined they are the prompt without marks. */
  pieces(rendered: string): string[] {
    return rendered.split(MARKS).filter((piece) => piece !== '');
  }

  #walk(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((item) => this.#walk(item));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.#text(key), this.#walk(item)]));
    }
    return value;
  }

  #text(text: string): string {
    const own = text.includes(MARK) ? text.replace(FOREIGN_MARKS, '\uFFFD') : text;
    return own.replace(this.#control!, (whole) => {
      const first = String.fromCodePoint(whole.codePointAt(0)!);
      return first + MARK + whole.slice(first.length);
    });
  }
}
