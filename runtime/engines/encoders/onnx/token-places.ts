import { BYTE_OF_CHAR } from '../../tokenizers/byte-alphabet.js';
import type { Spelling } from '../../tokenizers/tokenizer.js';

/** What alignment asks of a tokenizer. */
interface Speller {
  readonly spelling: Spelling;
  readonly unknown: string | undefined;
  normalised(text: string): string;
}

/** Part of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Nothing but the mark of a space. */
const BARE = /^\u2581+$/;

/**
 * Where each token of a text stands in it. Tokenizers here give no places, so the tokens are laid along the text as the vocabulary sees it;
 * an unknown token takes what lies before the next one that is found. A space that is a token by itself begins a word, and has the place of
 * the piece behind it. Undefined for a token of which nothing is in the text.
 */
export function placesOf(text: string, tokens: readonly string[], speller: Speller): (Span | undefined)[] {
  const surface = new Surface(text, speller);
  const words = speller.spelling === 'wordpiece' ? wordPieceWordsOf(text) : wordsOf(text);
  let cursor = 0;
  const places = tokens.map((token, index) => {
    const bytes = tokenBytes(token, speller.spelling);
    const isUnknown = token === speller.unknown;
    // What the vocabulary's view of single characters does not explain is passed over.
    const found = isUnknown || bytes.length === 0 ? -1 : surface.find(bytes, cursor);
    const from = Math.max(found, cursor);
    if (found >= 0) cursor = found + bytes.length;
    else if (isUnknown) cursor = unknownEnd(surface, words, cursor, tokens.slice(index + 1, index + 3), speller);
    return surface.span(from, cursor);
  });
  if (speller.spelling !== 'pieces') return places;
  return places.map((place, index) => (BARE.test(tokens[index]!) && !tokens[index + 1]?.startsWith('\u2581') ? places[index + 1] : place));
}

const SPACES = new Set([0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d]);
const WORD_MARK = /\u2581/g;

/** Bytes in which a token is looked for: one that is further off is none of the text's, and the time for a text must not grow with its square. */
const SEARCHED_BYTES = 4096;

/** A text as the vocabulary sees it, in bytes without white space, each with the place that it comes from. */
class Surface {
  readonly bytes: Buffer;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(text: string, speller: Speller) {
    const bytes: number[] = [];
    let at = 0;
    for (const [part, normal] of partsOf(text, speller)) {
      for (const byte of Buffer.from(normal, 'utf8')) {
        if (SPACES.has(byte)) continue;
        bytes.push(byte);
        this.#starts.push(at);
        this.#ends.push(at + part.length);
      }
      at += part.length;
    }
    this.bytes = Buffer.from(bytes);
  }

  /** Where a token's bytes stand next, -1 for nowhere near. */
  find(bytes: Buffer, from: number): number {
    const found = this.bytes.subarray(from, from + SEARCHED_BYTES + bytes.length).indexOf(bytes);
    return found < 0 ? -1 : from + found;
  }

  span(from: number, to: number): Span | undefined {
    return from < to && from < this.bytes.length
      ? { start: this.#starts[from]!, end: this.#ends[Math.min(to, this.bytes.length) - 1]! }
      : undefined;
  }

  /** The first byte that comes from `unit` of the text or after it. */
  firstFrom(unit: number, from: number): number {
    let at = from;
    while (at < this.#starts.length && this.#starts[at]! < unit) at += 1;
    return at;
  }
}

/** Characters that normalising may make one: a letter and its marks, the jamo of a syllable. */
const CLUSTERS = /(?:[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\uac00-\ud7a3][\u11a8-\u11c2]|.)[\p{M}\uff9e\uff9f]{0,64}/gsu;

/** The characters of a text, each as the vocabulary sees it; those that it sees otherwise together than one by one are one part. */
function* partsOf(text: string, speller: Speller): Generator<[part: string, normal: string]> {
  if (speller.spelling === 'bytes') {
    for (const character of text) yield [character, character];
    return;
  }
  for (const [cluster] of text.matchAll(CLUSTERS)) {
    const normal = speller.normalised(cluster);
    const characters = Array.from(cluster);
    const single = characters.length > 1 ? characters.map((one): [string, string] => [one, speller.normalised(one)]) : [];
    if (single.length > 1 && single.map(([, alone]) => alone).join('') === normal) yield* single;
    else yield [cluster, normal];
  }
}

/** Those that the JavaScript tokenizer sets apart (Python's does so beyond U+FFFF too), and punctuation. */
const ALONE = '[\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\p{P}$+<=>^`|~]';

/** Characters in a row that are matched at a time: a regular expression that takes millions at once runs out of stack. */
const AT_ONCE = '{1,4096}';

const WORDPIECE_WORDS = new RegExp(`${ALONE}|(?<spaced>(?:(?!${ALONE})[\\S\\ufeff])${AT_ONCE})`, 'gu');

/** What WordPiece takes for the words of a text, as BERT cuts it: ideographs and punctuation stand alone, all else goes on up to white space. */
export function wordPieceWordsOf(text: string): Span[] {
  return findWords(text, WORDPIECE_WORDS);
}

/** A word or mark of a text, or a run of letters of scripts that are written without spaces, whose words nothing tells apart. */
interface Word extends Span {
  readonly isDense: boolean;
}

/** What a pattern finds, where parts of one kind that touch, or have only unseen characters between them, are one word. */
function findWords(text: string, pattern: RegExp): Word[] {
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

/** A letter or digit of a script that is written without spaces, or that several of them share (the long vowel mark), and its marks. */
const DENSE =
  '(?=[\\p{L}\\p{N}])[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]\\p{M}{0,64}';

const WORDS = new RegExp(
  `(?<dense>(?:${DENSE})${AT_ONCE})|(?<spaced>(?:(?!${DENSE})[\\p{L}\\p{N}\\p{M}])${AT_ONCE})|(?<unseen>(?:(?![\\u200b\\u200e\\u200f\\ufeff])\\p{Cf})${AT_ONCE})|[^\\s\\u200b\\u200e\\u200f]`,
  'gu',
);

/**
 * The words and marks of a text, in order: letters, digits and their marks together, with characters between them that are not seen (soft
 * hyphens, joiners), but for those that stand between words; everything else but white space and what is not seen stands alone.
 */
export function wordsOf(text: string): Word[] {
  return findWords(text, WORDS);
}

function tokenBytes(token: string, spelling: Spelling): Buffer {
  const plain = spelling === 'wordpiece' ? token.replace(/^##/, '') : token.replace(WORD_MARK, '');
  const bytes =
    spelling === 'bytes' ? Buffer.from(Array.from(token, (character) => BYTE_OF_CHAR.get(character) ?? 0x20)) : Buffer.from(plain, 'utf8');
  return bytes.every((byte) => !SPACES.has(byte)) ? bytes : (bytes.filter((byte) => !SPACES.has(byte)) as Buffer);
}

/** An unknown token ends where the next one begins; one that stands for a whole word ends with its word. */
function unknownEnd(surface: Surface, words: readonly Span[], cursor: number, after: readonly string[], speller: Speller): number {
  const place = surface.span(cursor, cursor + 1);
  if (!place) return cursor;
  const word = words[firstEndingAfter(words, place.start)];
  const wordEnd = word ? surface.firstFrom(word.end, cursor) : cursor + 1;
  const next = after.find((token) => !BARE.test(token));
  if (speller.spelling === 'wordpiece' || next === undefined || next === speller.unknown) return wordEnd;
  const found = surface.find(tokenBytes(next, speller.spelling), cursor + 1);
  return found > cursor ? found : wordEnd;
}

/** Index of the first word that ends after a place; words are in order. */
function firstEndingAfter(words: readonly Span[], place: number): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const half = (low + high) >> 1;
    if (words[half]!.end > place) high = half;
    else low = half + 1;
  }
  return low;
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
