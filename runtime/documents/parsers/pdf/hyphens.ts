const HYPHENATED = /(?<![\p{L}\p{M}])[\p{L}\p{M}]+(?:[-\u2010][\p{L}\p{M}]+)+/gu;
/** The end of a line that may split a word, and the beginning of the next that may end it. */
const SPLIT_END = /([\p{L}\p{M}]+)([-\u2010\u00ad])$/u;
const SPLIT_START = /^(?=\p{Ll})[\p{L}\p{M}]+/u;
/** Characters that are looked at on either side of a line end; no word is longer. */
const WORD_UNITS = 64;

const splitEnd = (line: string): RegExpExecArray | null => SPLIT_END.exec(line.slice(-WORD_UNITS));
const splitStart = (line: string): RegExpExecArray | null => SPLIT_START.exec(line.slice(0, WORD_UNITS));

/** Tells hyphens that split a word at a line end from those that belong to it, by how the document writes the word elsewhere. */
export class Hyphens {
  /** The two parts beside each hyphen within a line. */
  readonly #pairs = new Set<string>();

  constructor(lines: Iterable<string>) {
    for (const line of lines) {
      for (const [word] of line.matchAll(HYPHENATED)) {
        const parts = word.toLowerCase().split(/[-\u2010]/);
        parts.slice(1).forEach((part, at) => {
          this.#pairs.add(`${parts[at]}-${part}`);
        });
      }
    }
  }

  /** Whether a word goes on from the end of a line to the next. */
  isSplit(line: string, next: string): boolean {
    return splitStart(next) !== null && splitEnd(line) !== null;
  }

  /** Lines as one text with `between` at their ends. A split word stands whole in the line where it begins. */
  joined(lines: readonly string[], between: string): string {
    const pieces: string[] = [];
    for (const line of lines) {
      const before = pieces.at(-1);
      if (before === undefined) pieces.push(line);
      else if (this.isSplit(before, line)) {
        const [, rest = line, after = ''] = /^(\S+)\s*(.*)$/su.exec(line) ?? [];
        pieces[pieces.length - 1] = this.#isOwn(before, rest) ? before : before.slice(0, -1);
        pieces.push(rest);
        if (after !== '') pieces.push(between, after);
      } else pieces.push(between, line);
    }
    return pieces.join('').replaceAll('\u00ad', '');
  }

  /** Whether the hyphen at the end of a line belongs to the word: the document writes it so elsewhere, or the word has another hyphen. */
  #isOwn(line: string, rest: string): boolean {
    const [, part = '', hyphen] = splitEnd(line)!;
    const [next = ''] = splitStart(rest)!;
    if (hyphen === '\u00ad') return false;
    const [before = '', after = ''] = [line.at(-2 - part.length), rest.at(next.length)];
    return (
      this.#pairs.has(`${part}-${next}`.toLowerCase()) ||
      /[-\u2010]/.test(before) ||
      (/[-\u2010]/.test(after) && next.length + 1 < rest.length)
    );
  }
}
