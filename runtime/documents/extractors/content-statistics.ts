import type { OptionShapes } from '../../config/plugin-options.js';
import { isBlankUnit } from '../chunking/units.js';
import { emailsIn, urlsIn } from '../text/addresses.js';
import { type WordFacts, wordFactsOf } from '../text/known-words.js';
import { type Line, linesOf, sentencesOf } from '../text/sentences.js';
import { wordsOf } from '../text/words.js';
import { defineExtractor } from './contract.js';

/** What every part of the statistics counts with. */
interface CountedText {
  readonly text: string;
  readonly words: readonly string[];
  /** What is known of each word. */
  readonly known: readonly WordFacts[];
  readonly sentences: number;
  readonly lines: readonly Line[];
}

/** A quotient for people to read: four decimals, 0 where there is nothing to divide by. */
export function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}

/** Splits a text once for all parts of the statistics. */
function countText(text: string): CountedText {
  const words = wordsOf(text).map((word) => word.text);
  return { text, words, known: wordFactsOf(text), sentences: sentencesOf(text).length, lines: linesOf(text) };
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
function basicStatistics({ text, words, sentences, lines }: CountedText) {
  let spaces = 0;
  for (let at = 0; at < text.length; at += 1) if (isBlankUnit(text.charCodeAt(at))) spaces += 1;
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

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100;

/** Minutes that a text of so many words takes to read. */
function readingTime(words: number) {
  return {
    slow: roundToHundredths(words / PACE.slow),
    average: roundToHundredths(words / PACE.average),
    fast: roundToHundredths(words / PACE.fast),
  };
}

/**
 * Flesch reading ease (Flesch 1948), Flesch-Kincaid grade (Kincaid et al. 1975) and automated readability index (Smith and Senter 1967).
 * Zeros for a text without words.
 */
function readabilityOf({ words, known, sentences }: CountedText) {
  const syllables = known.reduce((sum, word) => sum + word.syllables, 0);
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const any = words.length > 0;
  const perSentence = words.length / Math.max(sentences, 1);
  const perWord = syllables / Math.max(words.length, 1);
  const ease = any ? 206.835 - 1.015 * perSentence - 84.6 * perWord : 0;
  return {
    flesch_reading_ease: roundToHundredths(ease),
    flesch_kincaid_grade: any ? roundToHundredths(0.39 * perSentence + 11.8 * perWord - 15.59) : 0,
    automated_readability_index: any ? roundToHundredths(4.71 * (letters / words.length) + 0.5 * perSentence - 21.43) : 0,
    reading_level: any ? (LEVELS.find(([least]) => ease >= least)?.[1] ?? 'very_difficult') : 'unknown',
    syllable_count: syllables,
    avg_syllables_per_word: ratio(syllables, words.length),
    reading_time_minutes: readingTime(words.length),
  };
}

const wordSet = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const POSITIVE = wordSet(
  'good great excellent best better amazing wonderful fantastic superb perfect love loved loves like liked enjoy enjoyed happy glad pleased ' +
    'delighted success successful successfully win won winning benefit benefits improve improved improvement improves easy efficient effective ' +
    'helpful useful valuable beautiful brilliant positive recommend recommended reliable fast safe strong gain gains growth profit thanks thank ' +
    'praise praised impressive innovative favourite favorite advantage pleasant',
);
const NEGATIVE = wordSet(
  'bad worse worst terrible awful horrible poor poorly hate hated hates dislike disliked sad angry upset unhappy disappointed disappointing ' +
    'disappointment failure fail failed fails failing problem problems issue issues error errors broken bug bugs slow difficult hard wrong ' +
    'loss losses lose lost lack damage damaged danger dangerous risk risky weak useless harmful harm negative crash crashed crisis complaint ' +
    'complaints complain unfortunately worthless expensive decline declined threat unsafe ugly annoying',
);
const NEGATION = wordSet("not no never without hardly cannot can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't");
/** A negation turns the words so far behind it. */
const REACH = 3;
const SENTIMENT_WORD_UNITS = 32;
/** A score beyond this, either way, has a polarity. */
const NEUTRAL = 0.1;

/** Counts of English words with a leaning, turned by a negation before them; the score is (positive - negative) / both, -1 to 1. */
function sentimentOf({ words: all }: CountedText) {
  let positive = 0;
  let negative = 0;
  let negated = 0;
  for (const raw of all) {
    const word = raw.slice(0, SENTIMENT_WORD_UNITS).toLowerCase().replace('’', "'");
    const leans = POSITIVE.has(word) || NEGATIVE.has(word);
    if (NEGATION.has(word)) negated = REACH + 1;
    else if (leans && POSITIVE.has(word) !== negated > 0) positive += 1;
    else if (leans) negative += 1;
    negated -= 1;
  }
  const score = ratio(positive - negative, positive + negative);
  return {
    positive_words: positive,
    negative_words: negative,
    sentiment_score: score,
    polarity: score > NEUTRAL ? 'positive' : score < -NEUTRAL ? 'negative' : 'neutral',
  };
}

const COUNTED_MARKS = '.,;:!?-–—…"\'“”‘’()[]{}/';

const COUNTED_UNITS = new Set([...COUNTED_MARKS].map((mark) => mark.charCodeAt(0)));

function countOf(found: Iterable<unknown>): number {
  let total = 0;
  for (const _ of found) total += 1;
  return total;
}

/** Marks, lists and addresses by number. `punctuation_counts` holds the marks that occur. */
function structureOf({ text, known, lines }: CountedText) {
  const marks = new Map<string, number>();
  for (let at = 0; at < text.length; at += 1) {
    if (!COUNTED_UNITS.has(text.charCodeAt(at))) continue;
    const mark = text[at]!;
    marks.set(mark, (marks.get(mark) ?? 0) + 1);
  }
  return {
    punctuation_counts: Object.fromEntries([...marks].sort((a, b) => (a[0] < b[0] ? -1 : 1))),
    questions: text.match(/[?？]+/g)?.length ?? 0,
    exclamations: text.match(/[!！]+/g)?.length ?? 0,
    uppercase_words: known.filter((word) => word.isUpper && word.lower.length > 1).length,
    numbers: known.filter((word) => word.isNumber).length,
    urls: countOf(urlsIn(text)),
    emails: countOf(emailsIn(text)),
    bullet_points: lines.filter((line) => /^\s*[-*+•‣◦–]\s+\S/.test(line.text.slice(0, 256))).length,
    numbered_lists: lines.filter((line) => /^\s*(?:\d{1,4}|[a-zA-Z])[.)]\s+\S/.test(line.text.slice(0, 256))).length,
  };
}

/** Entries of `most_common_words`. */
const COMMON_WORDS = 10;
/** A word of so many syllables is complex, as in Gunning's fog index. */
const COMPLEX_SYLLABLES = 3;
const WORD_UNITS = 64;

/** How varied the words are; words are compared in lower case. Complex words and their ratio count every occurrence. */
function vocabularyOf({ words, known }: CountedText) {
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

const OPTIONS = {
  include_readability: { type: 'boolean', default: true, description: 'Reading ease, grade and time.' },
  include_vocabulary: { type: 'boolean', default: true, description: 'How varied the words are.' },
  include_structure: { type: 'boolean', default: true, description: 'Marks, lists and addresses by number.' },
  include_sentiment_indicators: { type: 'boolean', default: false, description: 'Leaning of English words.' },
} as const satisfies OptionShapes;

/** Counts what a text is made of. `reading_time_minutes` beside the chunk is that of a reader of 200 words a minute. */
export const contentStatistics = defineExtractor('ContentStatisticsExtractor', OPTIONS, (text, options) => {
  const counted = countText(text);
  const basic = basicStatistics(counted);
  const sentiment = options.include_sentiment_indicators ? sentimentOf(counted) : undefined;
  return {
    output: {
      statistics: {
        basic,
        ...(options.include_readability && { readability: readabilityOf(counted) }),
        ...(options.include_vocabulary && { vocabulary: vocabularyOf(counted) }),
        ...(options.include_structure && { structure: structureOf(counted) }),
        ...(sentiment && { sentiment }),
      },
    },
    flat: {
      word_count: basic.word_count,
      character_count: basic.character_count,
      sentence_count: basic.sentence_count,
      ...(options.include_readability && { reading_time_minutes: readingTime(basic.word_count).average }),
      ...(sentiment && { sentiment_score: sentiment.sentiment_score }),
    },
  };
});
