/** Characters in a row that are matched at a time: a regular expression that takes millions at once runs out of stack. */
const AT_ONCE = '{1,4096}';
/** A letter or digit of a script that is written without spaces, or that several of them share (the long vowel mark), and its marks. */
const DENSE =
  '(?=[\\p{L}\\p{N}])[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]\\p{M}{0,64}';
const WORDS = new RegExp(
  `(?<dense>(?:${DENSE})${AT_ONCE})|(?<spaced>(?:(?!${DENSE})[\\p{L}\\p{N}\\p{M}])${AT_ONCE})|(?<unseen>(?:(?![\\u200b\\u200e\\u200f\\ufeff])\\p{Cf})${AT_ONCE})|[^\\s\\u200b\\u200e\\u200f]`,
  'gu',
);
/** Those that the JavaScript tokenizer sets apart (Python's does so beyond U+FFFF too), and punctuation. */
const ALONE = '[\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\p{P}$+<=>^`|~]';
const WORDPIECE_WORDS = new RegExp(`${ALONE}|(?<spaced>(?:(?!${ALONE})[\\S\\ufeff])${AT_ONCE})`, 'gu');

/** Part of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A word or mark of a text, or a run of letters of scripts that are written without spaces, whose words nothing tells apart. */
export interface Word extends Span {
  readonly isDense: boolean;
}

/**
 * The words and marks of a text, in order: letters, digits and their marks together, with characters between them that are not seen (soft
 * hyphens, joiners), but for those that stand between words; everything else but white space and what is not seen stands alone.
 */
export function wordsOf(text: string): Word[] {
  return joined(text, WORDS);
}

/** What WordPiece takes for the words of a text, as BERT cuts it: ideographs and punctuation stand alone, all else goes on up to white space. */
export function wordPieceWordsOf(text: string): Span[] {
  return joined(text, WORDPIECE_WORDS);
}

/** What a pattern finds, where parts of one kind that touch, or have only unseen characters between them, are one word. */
function joined(text: string, pattern: RegExp): Word[] {
  const words: { start: number; end: number; isDense: boolean }[] = [];
  /** Where the next part must begin to go on with the last word. */
  let reach = -1;
  for (const { 0: part, index, groups } of text.matchAll(pattern)) {
    const { dense, spaced, unseen } = groups!;
    const end = index + part.length;
    const isDense = dense !== undefined;
    const goesOn = index === reach;
    if (unseen !== undefined) reach = goesOn ? end : -1;
    else {
      if (goesOn && (isDense || spaced !== undefined) && words.at(-1)!.isDense === isDense) words.at(-1)!.end = end;
      else words.push({ start: index, end, isDense });
      reach = isDense || spaced !== undefined ? end : -1;
    }
  }
  return words;
}

/** Counts code points up to places of one text that are asked for in rising order, as Python counts characters. */
export class CodePoints {
  readonly #text: string;
  #units = 0;
  #points = 0;

  constructor(text: string) {
    this.#text = text;
  }

  at(unit: number): number {
    while (this.#units < unit) {
      this.#units += this.#text.codePointAt(this.#units)! > 0xffff ? 2 : 1;
      this.#points += 1;
    }
    return this.#points;
  }
}
