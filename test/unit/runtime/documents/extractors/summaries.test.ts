import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';
import { lexrank, lsa, luhn, pickable, type Ranking, textrank } from '../../../../../runtime/documents/extractors/sentence-rankings.js';

const summary = (text: string, options = {}) =>
  extractorOf('SummaryExtractor').extract(text, options).output.summary as Record<string, unknown>;
const scores = (ranking: Ranking, text: string, wanted = 1): number[] => [...Array.from(ranking(pickable(text, 1, 500).sentences, wanted))];
function close(actual: readonly number[], expected: readonly number[]): void {
  for (const [index, one] of actual.entries()) assert.ok(Math.abs(one - expected[index]!) < 1e-3, `${actual} instead of ${expected}`);
}

describe('ranking sentences', () => {
  it('by TextRank: a star of alike sentences has the closed form of PageRank', () => {
    // The first shares one word with each of the others, which share none, at equal lengths.
    const text = 'Apple banana cherry. Apple dog eel. Banana fox goat. Cherry hen ibex.';
    const middle = 0.8875 / 1.85;
    close(scores(textrank, text), [middle, (1 - middle) / 3, (1 - middle) / 3, (1 - middle) / 3]);
  });

  it('by LexRank: links count alike over the threshold', () => {
    const text = 'Apple banana cherry. Apple dog eel. Banana fox goat. Cherry hen ibex.';
    const middle = 0.8875 / 1.85;
    close(scores(lexrank, text), [middle, (1 - middle) / 3, (1 - middle) / 3, (1 - middle) / 3]);
    close(scores(lexrank, 'Apple. Banana.'), [0.5, 0.5]);
  });

  it('by Luhn: significant words squared over the length of their cluster', () => {
    const text = 'Mills grind corn. Mills of old grind corn. Corn one two three four five mills.';
    // "mills", "grind" and "corn" repeat: 3^2 / 3; 3^2 / 5; and two clusters of one word.
    assert.deepEqual(scores(luhn, text), [3, 9 / 5, 1]);
  });

  it('by LSA: lengths in the strongest topic', () => {
    // Two sentences with the same two words, one with another: topics of singular values 2 (twice sqrt 2 squared) and 1.
    close(scores(lsa, 'Apple banana. Banana apple. Cherry.', 1), [Math.SQRT2, Math.SQRT2, 0]);
    close(scores(lsa, 'Apple banana. Banana apple. Cherry.', 2), [Math.SQRT2, Math.SQRT2, 1]);
  });
});

describe('summaries', () => {
  const TEXT =
    'Mills grind corn for bread. The weather was fine. Bread from corn mills tastes best. Short. Corn feeds mills and mills make bread.';

  it('takes the best sentences in the order of the text', () => {
    const found = summary(TEXT, { summary_sentences: 2, algorithm: 'luhn' });
    assert.equal(found.extractive_summary, 'Bread from corn mills tastes best. Corn feeds mills and mills make bread.');
    assert.deepEqual([found.sentence_count, found.avg_sentence_length], [2, 6.5]);
    assert.deepEqual(found.statistics, {
      original_sentences: 5,
      original_words: 23,
      original_characters: TEXT.length,
      summary_words: 13,
      summary_characters: 73,
      algorithm: 'luhn',
    });
    assert.equal(found.summary_ratio, Math.round((73 / TEXT.length) * 10_000) / 10_000);
  });

  it('takes no sentence shorter or longer than asked', () => {
    assert.equal(summary(TEXT, { summary_sentences: 10 }).sentence_count, 4);
    assert.equal(summary(TEXT, { summary_sentences: 10, min_sentence_length: 1 }).sentence_count, 5);
    assert.equal(summary(TEXT, { summary_sentences: 10, max_sentence_length: 27 }).sentence_count, 2);
    assert.equal(summary('').extractive_summary, '');
  });
});
