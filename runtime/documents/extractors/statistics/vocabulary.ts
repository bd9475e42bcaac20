import { type Counted, ratio } from './basic.js';

/** Entries of `most_common_words`. */
const COMMON_WORDS = 10;
/** A word of so many syllables is complex, as in Gunning's fog index. */
const COMPLEX_SYLLABLES = 3;
const WORD_UNITS = 64;

/** How varied the words are; words are compared in lower case. Complex words and their ratio count every occurrence. */
export function vocabularyOf({ words, known }: Counted) {
  const counts = new Map<string, number>();
  for (const { lower } of known) {
    const key = lower.length > WORD_UNITS ? lower.slice(0, WORD_UNITS) : lower;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const variety = ratio(counts.size, words.length);
  const once = [...counts.values()].filter((count) => count === 1).length;
  const complex = known.filter((word) => word.syllables >= COMPLEX_SYLLABLES).length;
  const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, COMMON_WORDS);
  return {
    unique_words: counts.size,
    total_words: words.length,
    type_token_ratio: variety,
    hapax_legomena: once,
    hapax_ratio: ratio(once, words.length),
    complex_words: complex,
    complex_word_ratio: ratio(complex, words.length),
    avg_word_length: ratio(
      words.reduce((sum, word) => sum + word.length, 0),
      words.length,
    ),
    most_common_words: common.map(([word, count]) => ({ word, count })),
    vocabulary_richness: variety > 0.5 ? 'high' : variety > 0.3 ? 'medium' : 'low',
  };
}
