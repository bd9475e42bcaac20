import type { Ranking, Sentence } from './sentences.js';

/** Words between two significant ones that do not part a cluster. */
const GAP = 4;
/** A word is significant from so many occurrences on. */
const SIGNIFICANT = 2;

/** The best cluster of a sentence: its significant words squared over its length. */
function bestCluster({ words }: Sentence, significant: (word: string) => boolean): number {
  let best = 0;
  let start = 0;
  let last = -GAP - 2;
  let count = 0;
  words.forEach((word, at) => {
    if (!significant(word)) return;
    if (at - last - 1 > GAP) {
      start = at;
      count = 0;
    }
    count += 1;
    last = at;
    best = Math.max(best, count ** 2 / (at - start + 1));
  });
  return best;
}

/** Luhn's method (1958): a sentence scores its densest cluster of words that the text repeats. */
export const luhn: Ranking = (sentences) => {
  const counts = new Map<string, number>();
  for (const { terms } of sentences) for (const [term, count] of terms) counts.set(term, (counts.get(term) ?? 0) + count);
  return sentences.map((sentence) => bestCluster(sentence, (word) => (counts.get(word) ?? 0) >= SIGNIFICANT));
};
