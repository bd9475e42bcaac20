import { blank } from '../chunking/units.js';
import { type KnownWord, knownWordsOf } from '../text/known-words.js';
import { type Line, linesOf } from '../text/lines.js';
import { sentencesOf } from '../text/sentences.js';
import { wordsOf } from '../text/words.js';

/** What every part of the statistics counts with. */
export interface Counted {
  readonly text: string;
  readonly words: readonly string[];
  /** What is known of each word. */
  readonly known: readonly KnownWord[];
  readonly sentences: number;
  readonly lines: readonly Line[];
}

/** A quotient for people to read: four decimals, 0 where there is nothing to divide by. */
export function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}

/** Splits a text once for all parts of the statistics. */
export function count(text: string): Counted {
  const words = wordsOf(text).map((word) => word.text);
  return { text, words, known: knownWordsOf(text), sentences: sentencesOf(text).length, lines: linesOf(text) };
}

/** Runs of lines with something in them. */
function paragraphsIn(lines: readonly Line[]): number {
  let paragraphs = 0;
  let inside = false;
  for (const line of lines) {
    const filled = line.text.trim() !== '';
    if (filled && !inside) paragraphs += 1;
    inside = filled;
  }
  return paragraphs;
}

/** Sizes of the text; characters are UTF-16 code units, a word's characters its letters and digits. */
export function basicOf({ text, words, sentences, lines }: Counted) {
  let spaces = 0;
  for (let at = 0; at < text.length; at += 1) if (blank(text.charCodeAt(at))) spaces += 1;
  const paragraphs = paragraphsIn(lines);
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  return {
    character_count: text.length,
    character_count_no_spaces: text.length - spaces,
    word_count: words.length,
    sentence_count: sentences,
    paragraph_count: paragraphs,
    line_count: lines.length,
    avg_words_per_sentence: ratio(words.length, sentences),
    avg_chars_per_word: ratio(letters, words.length),
    avg_sentences_per_paragraph: ratio(sentences, paragraphs),
    whitespace_ratio: ratio(spaces, text.length),
  };
}
