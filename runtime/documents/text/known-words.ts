import { rememberLatest } from '../../base/once.js';
import { syllablesOf } from './syllables.js';
import { wordsOf } from './words.js';

/** Words that are remembered, and the longest of them. */
const MOST_WORDS = 2 ** 15;
const WORD_UNITS = 64;
const LETTER = /\p{L}/u;
const UPPER = /^\p{Lu}[\p{Lu}\p{N}]*$/u;
const NUMBER = /^\p{N}/u;

/** What is known of a word, wherever it stands. */
export interface KnownWord {
  readonly lower: string;
  readonly syllables: number;
  readonly hasLetter: boolean;
  /** All of it capitals and digits, the first a capital. */
  readonly isUpper: boolean;
  /** Begins with a digit. */
  readonly isNumber: boolean;
}

const known = new Map<string, KnownWord>();

/** Looks a word up; texts repeat their words, so that most are looked at once. */
function knownWord(word: string): KnownWord {
  const found = known.get(word);
  if (found !== undefined) return found;
  const lower = word.toLowerCase();
  const made = {
    lower,
    syllables: syllablesOf(word),
    hasLetter: LETTER.test(lower),
    isUpper: UPPER.test(word.slice(0, WORD_UNITS)),
    isNumber: NUMBER.test(word),
  };
  if (word.length > WORD_UNITS) return made;
  if (known.size >= MOST_WORDS) known.clear();
  // A copy: the word may be a view of its text, which would stay in memory with it.
  known.set(Buffer.from(word, 'utf16le').toString('utf16le'), made);
  return made;
}

/** What is known of each of the words of a text. */
export const knownWordsOf = rememberLatest((text: string): readonly KnownWord[] => wordsOf(text).map((word) => knownWord(word.text)));
