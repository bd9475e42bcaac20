import { breathe } from '../../../base/loop.js';
import { addFeature, hashOf } from './features.js';
import { type KnownWord, knownWord } from './known-words.js';
import { foldedWords } from './words.js';

/** How much all n-grams of a word weigh together, measured by the word. */
const GRAMS = 3;
/** Words between two looks at the clock. */
const STRIDE = 256;

/** Adds a word that occurs `count` times. */
function addWord(into: Float64Array, { hash, weight: once, whole, grams }: KnownWord, count: number): void {
  const weight = once * (1 + Math.log(count));
  addFeature(into, hash, weight * whole);
  const share = (weight * GRAMS) / Math.sqrt(grams.length);
  for (let at = 0; at < grams.length; at += 1) addFeature(into, grams[at]!, share);
}

interface Counted {
  readonly word: KnownWord;
  count: number;
}

/** How often each word occurs. */
async function counted(text: string, signal: AbortSignal): Promise<Iterable<Counted>> {
  const words = new Map<string, Counted>();
  let seen = 0;
  for (const written of foldedWords(text)) {
    let found = words.get(written);
    if (found === undefined) {
      found = { word: knownWord(written), count: 0 };
      words.set(written, found);
    }
    found.count += 1;
    seen += 1;
    if (seen % STRIDE !== 0) continue;
    await breathe();
    signal.throwIfAborted();
  }
  return words.values();
}

/**
 * The vector of a text: hashed words and character n-grams, each weighted by 1 + ln of its count. Not of length 1.
 * Integer hashing and additions in the order of the text make it the same on every machine. Gives the event loop back now and then; throws
 * the reason of the abort.
 */
export async function lexicalVector(text: string, dimensions: number, signal: AbortSignal): Promise<Float32Array> {
  const sums = new Float64Array(dimensions);
  let seen = 0;
  for (const { word, count } of await counted(text, signal)) {
    addWord(sums, word, count);
    seen += 1;
    if (seen % STRIDE !== 0) continue;
    await breathe();
    signal.throwIfAborted();
  }
  // Signs only, or features that cancel each other out: the text as a whole is then its one feature.
  if (sums.every((sum) => sum === 0)) addFeature(sums, hashOf(text.trim()), 1);
  return Float32Array.from(sums);
}
