import { stopWordsOf } from '../../text/stop-words.js';
import { addFeature, gramsOf, hashOf, pairOf } from './features.js';
import { foldedWords } from './words.js';

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Languages whose function words weigh little. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'];
/** Shares of a word's weight: all its n-grams together, and its pair with the word before it. */
const GRAMS = 1.5;
const PAIR = 0.3;
/** A run of a script that writes no spaces is hardly ever met twice as a whole. */
const UNSPACED_RUN = 0.2;
const STOP_WORD = 0.05;
/** Words between two looks at the clock. */
const STRIDE = 256;

const stopWords = new Set(LANGUAGES.flatMap((language) => [...stopWordsOf(language)].flatMap((word) => word.split("'"))));

/** Long words say more than short ones: what a document frequency would tell, without a corpus. */
function rarity(word: string): number {
  return stopWords.has(word) ? STOP_WORD : 0.6 + 0.1 * Math.min(word.length, 10);
}

/** Adds a word that occurs `count` times. */
function addWord(into: Float64Array, word: string, count: number): void {
  const weight = rarity(word) * (1 + Math.log(count));
  const unspaced = UNSPACED.test(word);
  addFeature(into, hashOf(word), unspaced ? weight * UNSPACED_RUN : weight);
  if (stopWords.has(word)) return;
  const grams = gramsOf(word, unspaced);
  const share = (weight * GRAMS) / Math.sqrt(grams.length);
  for (const gram of grams) addFeature(into, gram, share);
}

/** How often each word, and each pair of neighbours by its hash, occurs; pauses now and then. */
async function counted(text: string, breathe: () => Promise<void>): Promise<[Map<string, number>, Map<number, number>]> {
  const words = new Map<string, number>();
  const pairs = new Map<number, number>();
  let before: number | undefined;
  let seen = 0;
  for (const word of foldedWords(text)) {
    words.set(word, (words.get(word) ?? 0) + 1);
    const hash = stopWords.has(word) ? undefined : hashOf(word);
    if (before !== undefined && hash !== undefined) {
      const pair = pairOf(before, hash);
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    }
    before = hash ?? before;
    seen += 1;
    if (seen % STRIDE === 0) await breathe();
  }
  return [words, pairs];
}

/**
 * The vector of a text: hashed words, pairs of neighbours and character n-grams, each weighted by 1 + ln of its count. Not of length 1.
 * Integer hashing and additions in the order of the text make it the same on every machine.
 */
export async function lexicalVector(text: string, dimensions: number, breathe: () => Promise<void>): Promise<Float32Array> {
  const sums = new Float64Array(dimensions);
  const [words, pairs] = await counted(text, breathe);
  let seen = 0;
  for (const [word, count] of words) {
    addWord(sums, word, count);
    seen += 1;
    if (seen % STRIDE === 0) await breathe();
  }
  for (const [pair, count] of pairs) addFeature(sums, pair, PAIR * (1 + Math.log(count)));
  // Signs only, or features that cancel each other out: the text as a whole is then its one feature.
  if (sums.every((sum) => sum === 0)) addFeature(sums, hashOf(text.trim()), 1);
  return Float32Array.from(sums);
}
