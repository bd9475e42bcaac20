import type { OptionShapes } from '../../config/plugin-options.js';
import { wordsOf } from '../text/words.js';
import { ratio } from './content-statistics.js';
import { defineExtractor } from './contract.js';
import { keywordsOf } from './keywords.js';
import { lexrank, lsa, luhn, pickable, type Ranking, textrank } from './sentence-rankings.js';

const OPTIONS = {
  summary_sentences: { type: 'integer', default: 3, minimum: 1, maximum: 10, description: 'Sentences of the summary.' },
  algorithm: {
    type: 'string',
    default: 'textrank',
    enum: ['textrank', 'lsa', 'luhn', 'lexrank'],
    description: 'How sentences are scored.',
  },
  include_key_phrases: { type: 'boolean', default: true, description: 'Key phrases of the text.' },
  include_statistics: { type: 'boolean', default: true, description: 'Sizes of the text and of the summary.' },
  min_sentence_length: {
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 10_000,
    description: 'Code units of the shortest sentence taken.',
  },
  max_sentence_length: {
    type: 'integer',
    default: 500,
    minimum: 1,
    maximum: 10_000,
    description: 'Code units of the longest sentence taken.',
  },
} as const satisfies OptionShapes;

const RANKINGS = { textrank, lsa, luhn, lexrank } as const satisfies Record<string, Ranking>;
const KEY_PHRASES = {
  max_keywords: 5,
  min_length: 1,
  max_length: 4,
  min_frequency: 1,
  deduplication_threshold: 0.9,
  language: 'en',
  stop_words: [],
} as const;

/** The best sentences of a text, in its order. `summary_ratio` is the summary's length over the text's. */
export const summary = defineExtractor('SummaryExtractor', OPTIONS, (text, options) => {
  const { sentences, total } = pickable(text, options.min_sentence_length, options.max_sentence_length);
  const scores = RANKINGS[options.algorithm](sentences, options.summary_sentences);
  const picked = sentences
    .map((sentence, index) => ({ sentence, index, score: scores[index]! }))
    .sort((a, b) => b.score - a.score)
    .slice(0, options.summary_sentences)
    .sort((a, b) => a.index - b.index)
    .map((one) => one.sentence);
  const extractive_summary = picked.map((sentence) => sentence.text).join(' ');
  const words = wordsOf(extractive_summary).length;
  return {
    output: {
      summary: {
        extractive_summary,
        sentence_count: picked.length,
        avg_sentence_length: ratio(words, picked.length),
        summary_ratio: ratio(extractive_summary.length, text.length),
        ...(options.include_key_phrases && { key_phrases: keywordsOf(text, 'rake', KEY_PHRASES).map((one) => one.phrase) }),
        ...(options.include_statistics && {
          statistics: {
            original_sentences: total,
            original_words: wordsOf(text).length,
            original_characters: text.length,
            summary_words: words,
            summary_characters: extractive_summary.length,
            algorithm: options.algorithm,
          },
        }),
      },
    },
    flat: {},
  };
});
