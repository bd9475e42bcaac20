import { stopWordsOf } from '../../../documents/text/stop-words.js';
import { gramsOf, hashOf } from './features.js';

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Languages whose function words weigh little. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'];
const STOP_WORD = 0.05;
/** A run of a script that writes no spaces is hardly ever met twice as a whole. */
const UNSPACED_RUN = 0.2;
/** Words that are remembered, and the longest of them: about 10 MB. */
const MOST_WORDS = 2 ** 15;
const WORD_UNITS = 64;

/** What a word adds to a vector, whatever the text. */
export interface KnownWord {
  /** Of the whole word. */
  readonly hash: number;
  /** The weight of the word when it occurs once, and the part of it that goes to the word as a whole. */
  readonly weight: number;
  readonly whole: number;
  /** Hashes of its character n-grams; none of a stop word. */
  readonly grams: readonly number[];
}

const stopWords = new Set(LANGUAGES.flatMap((language) => [...stopWordsOf(language)].flatMap((word) => word.split("'"))));
const known = new Map<string, KnownWord>();

/** A folded word. Texts repeat their words, so that most are hashed once. */
export function knownWord(word: string): KnownWord {
  const found = known.get(word);
  if (found !== undefined) return found;
  const isStop = stopWords.has(word);
  const unspaced = UNSPACED.test(word);
  const made = {
    hash: hashOf(word),
    // Long words say more than short ones: what a document frequency would tell, without a corpus.
    weight: isStop ? STOP_WORD : 0.6 + 0.1 * Math.min(word.length, 10),
    whole: unspaced ? UNSPACED_RUN : 1,
    grams: isStop ? [] : gramsOf(word, unspaced),
  };
  if (word.length <= WORD_UNITS) {
    if (known.size >= MOST_WORDS) known.clear();
    // A copy: the word may be a view of its text, which would stay in memory with it.
    known.set(Buffer.from(word, 'utf16le').toString('utf16le'), made);
  }
  return made;
}
