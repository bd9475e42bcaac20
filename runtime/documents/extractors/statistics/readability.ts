import { type Counted, ratio } from './basic.js';

/** Words read in a minute. */
const PACE = { slow: 150, average: 200, fast: 300 } as const;
/** Flesch's own bands of reading ease; below the last it is `very_difficult`. */
const LEVELS = [
  [90, 'very_easy'],
  [80, 'easy'],
  [70, 'fairly_easy'],
  [60, 'standard'],
  [50, 'fairly_difficult'],
  [30, 'difficult'],
] as const;

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** Minutes that a text of so many words takes to read. */
export function readingTime(words: number) {
  return { slow: rounded(words / PACE.slow), average: rounded(words / PACE.average), fast: rounded(words / PACE.fast) };
}

/**
 * Flesch reading ease (Flesch 1948), Flesch-Kincaid grade (Kincaid et al. 1975) and automated readability index (Smith and Senter 1967).
 * Zeros for a text without words.
 */
export function readabilityOf({ words, known, sentences }: Counted) {
  const syllables = known.reduce((sum, word) => sum + word.syllables, 0);
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const any = words.length > 0;
  const perSentence = words.length / Math.max(sentences, 1);
  const perWord = syllables / Math.max(words.length, 1);
  const ease = any ? 206.835 - 1.015 * perSentence - 84.6 * perWord : 0;
  return {
    flesch_reading_ease: rounded(ease),
    flesch_kincaid_grade: any ? rounded(0.39 * perSentence + 11.8 * perWord - 15.59) : 0,
    automated_readability_index: any ? rounded(4.71 * (letters / words.length) + 0.5 * perSentence - 21.43) : 0,
    reading_level: any ? (LEVELS.find(([least]) => ease >= least)?.[1] ?? 'very_difficult') : 'unknown',
    syllable_count: syllables,
    avg_syllables_per_word: ratio(syllables, words.length),
    reading_time_minutes: readingTime(words.length),
  };
}
