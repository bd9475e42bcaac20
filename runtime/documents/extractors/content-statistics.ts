import type { OptionShapes } from '../../config/plugin-options.js';
import { defineExtractor } from './define.js';
import { basicOf, count } from './statistics/basic.js';
import { readabilityOf, readingTime } from './statistics/readability.js';
import { sentimentOf } from './statistics/sentiment.js';
import { structureOf } from './statistics/structure.js';
import { vocabularyOf } from './statistics/vocabulary.js';

const OPTIONS = {
  include_readability: { type: 'boolean', default: true, description: 'Reading ease, grade and time.' },
  include_vocabulary: { type: 'boolean', default: true, description: 'How varied the words are.' },
  include_structure: { type: 'boolean', default: true, description: 'Marks, lists and addresses by number.' },
  include_sentiment_indicators: { type: 'boolean', default: false, description: 'Leaning of English words.' },
} as const satisfies OptionShapes;

/** Counts what a text is made of. `reading_time_minutes` beside the chunk is that of a reader of 200 words a minute. */
export const contentStatistics = defineExtractor('ContentStatisticsExtractor', OPTIONS, (text, options) => {
  const counted = count(text);
  const basic = basicOf(counted);
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
