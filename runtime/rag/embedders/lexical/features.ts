import { mixed, step } from '../../../base/hash.js';

/** Shortest and longest character n-grams, with a mark at both ends of a word. Longer ones share the few components with too many others. */
const GRAMS = [3, 3] as const;
/** The same where characters are syllables or words. */
const UNSPACED_GRAMS = [1, 3] as const;
/** Longer words, which are keys and encoded bytes, give n-grams of their first characters only. */
const GRAM_UNITS = 64;
const WORD_SEED = 0x2545f491;
const GRAM_SEED = 0x9e3779b9;
const EDGE = 0x5f;

/** Adds a hashed feature: the top bit is the sign, the others choose the component (the hashing trick, Weinberger et al. 2009). */
export function addFeature(into: Float64Array, hash: number, weight: number): void {
  const at = (hash & 0x7fffffff) % into.length;
  into[at]! += hash >>> 31 ? -weight : weight;
}

/** The hash of a whole word. */
export function hashOf(word: string): number {
  let hash = WORD_SEED;
  for (let i = 0; i < word.length; i += 1) hash = step(hash, word.charCodeAt(i));
  return mixed(hash);
}

/** The hashes of the n-grams of `_word_`. */
export function gramsOf(word: string, unspaced: boolean): number[] {
  const length = Math.min(word.length, GRAM_UNITS) + 2;
  const [least, most] = unspaced ? UNSPACED_GRAMS : GRAMS;
  const unit = (at: number): number => (at === 0 || at === length - 1 ? EDGE : word.charCodeAt(at - 1));
  const hashes: number[] = [];
  for (let from = 0; from + least <= length; from += 1) {
    let hash = GRAM_SEED;
    for (let size = 1; size <= most && from + size <= length; size += 1) {
      hash = step(hash, unit(from + size - 1));
      if (size >= least) hashes.push(mixed(hash));
    }
  }
  return hashes;
}
