import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';

const extract = (text: string, options = {}) => extractorOf('ContentStatisticsExtractor').extract(text, options);
type Parts = Record<'basic' | 'readability' | 'vocabulary' | 'structure' | 'sentiment', Record<string, unknown>>;
const statistics = (text: string, options = {}): Parts => extract(text, options).output.statistics as Parts;

const TEXT = 'The cat sat on the mat. Is it good?\n\nVisit https://x.org now!\n- one\n2. two\n';

describe('content statistics', () => {
  it('counts what a text is made of', () => {
    assert.deepEqual(statistics('The cat sat on the mat.\nIs it?\n\nYes.').basic, {
      character_count: 36,
      character_count_no_spaces: 27,
      word_count: 9,
      sentence_count: 3,
      paragraph_count: 2,
      line_count: 4,
      avg_words_per_sentence: 3,
      avg_chars_per_word: 2.6667,
      avg_sentences_per_paragraph: 1.5,
      whitespace_ratio: 0.25,
    });
  });

  it('measures readability by the published formulas', () => {
    // 6 words, 1 sentence, 6 syllables, 18 letters.
    assert.deepEqual(statistics('The cat sat on the rugs.').readability, {
      flesch_reading_ease: 116.15,
      flesch_kincaid_grade: -1.45,
      automated_readability_index: -4.3,
      reading_level: 'very_easy',
      syllable_count: 6,
      avg_syllables_per_word: 1,
      reading_time_minutes: { slow: 0.04, average: 0.03, fast: 0.02 },
    });
  });

  it('puts reading ease into its bands', () => {
    const hard = 'Institutional organisational responsibilities necessitate comprehensive administrative considerations.';
    assert.equal(statistics(hard).readability.reading_level, 'very_difficult');
    assert.equal(statistics('').readability.reading_level, 'unknown');
  });

  it('measures the variety of words', () => {
    const { vocabulary } = statistics('Dog dog DOG cat university');
    assert.deepEqual(vocabulary, {
      unique_words: 3,
      total_words: 5,
      type_token_ratio: 0.6,
      hapax_legomena: 2,
      hapax_ratio: 0.4,
      complex_words: 1,
      complex_word_ratio: 0.2,
      avg_word_length: 4.4,
      most_common_words: [
        { word: 'dog', count: 3 },
        { word: 'cat', count: 1 },
        { word: 'university', count: 1 },
      ],
      vocabulary_richness: 'high',
    });
    assert.equal(statistics('a a b').vocabulary.vocabulary_richness, 'high');
    assert.equal(statistics('a a a b').vocabulary.vocabulary_richness, 'medium');
    assert.equal(statistics('a a a a b b b b').vocabulary.vocabulary_richness, 'low');
  });

  it('counts marks, lists and addresses', () => {
    const { structure } = statistics(TEXT);
    assert.deepEqual(structure, {
      punctuation_counts: { '!': 1, '-': 1, '.': 3, '/': 2, ':': 1, '?': 1 },
      questions: 1,
      exclamations: 1,
      uppercase_words: 0,
      numbers: 1,
      urls: 1,
      emails: 0,
      bullet_points: 1,
      numbered_lists: 1,
    });
  });

  it('tells the leaning of English words, turned by a negation', () => {
    const on = { include_sentiment_indicators: true };
    assert.deepEqual(statistics('A great and useful tool, not bad.', on).sentiment, {
      positive_words: 3,
      negative_words: 0,
      sentiment_score: 1,
      polarity: 'positive',
    });
    assert.equal(extract('It is not good and it failed.', on).flat.sentiment_score, -1);
    assert.equal(statistics('A table.', on).sentiment.polarity, 'neutral');
  });

  it('puts the main figures beside the chunk', () => {
    assert.deepEqual(extract('one two. three').flat, { word_count: 3, character_count: 14, sentence_count: 1, reading_time_minutes: 0.02 });
  });
});
