import { wordsOf } from '../../documents/text/words.js';

/** Words of a text that are compared. */
const MOST_WORDS = 500;

/** The different words of a text, in lower case. */
export function wordSet(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .slice(0, MOST_WORDS)
      .map((word) => word.text.toLowerCase()),
  );
}

/** The share of words that two texts have in common, 0 to 1 (Jaccard). */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  let common = 0;
  for (const word of a) if (b.has(word)) common += 1;
  return common / (a.size + b.size - common);
}
