import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';
import { likeness } from '../../../../../runtime/documents/extractors/keywords/phrases.js';

interface Keyword {
  readonly phrase: string;
  readonly score: number;
}

function keywords(type: 'KeywordExtractor' | 'RAKEExtractor' | 'YAKEExtractor' | 'TFIDFExtractor', text: string, options = {}): Keyword[] {
  const { output } = extractorOf(type).extract(text, options);
  return Object.values(output)[0] as Keyword[];
}

// The abstract that Rose et al. use as their example, with the scores of their table.
const ABSTRACT =
  'Compatibility of systems of linear constraints over the set of natural numbers. Criteria of compatibility of a system of linear Diophantine ' +
  'equations, strict inequations, and nonstrict inequations are considered. Upper bounds for components of a minimal set of solutions and ' +
  'algorithms of construction of minimal generating sets of solutions for all types of systems are given. These criteria and the corresponding ' +
  'algorithms for constructing a minimal supporting set of solutions can be used in solving all the considered types of systems and systems of ' +
  'mixed types.';

describe('RAKE', () => {
  it('scores the example of its paper as the paper does', () => {
    const published = [
      ['minimal generating sets', 8.7],
      ['linear diophantine equations', 8.5],
      ['minimal supporting set', 7.7],
      ['minimal set', 4.7],
      ['linear constraints', 4.5],
      ['natural numbers', 4],
      ['strict inequations', 4],
      ['nonstrict inequations', 4],
      ['upper bounds', 4],
    ];
    const found = keywords('RAKEExtractor', ABSTRACT).slice(0, published.length);
    assert.deepEqual(
      found.map((one) => [one.phrase, Math.round(one.score * 10) / 10]),
      published,
    );
  });

  it('gives phrases under its own key and beside the chunk', () => {
    const { output, flat } = extractorOf('KeywordExtractor').extract('red apples and green apples', { algorithm: 'rake' });
    // apples: degree 4, frequency 2; red and green: degree 2, frequency 1.
    assert.deepEqual(output, {
      rake_keywords: [
        { phrase: 'red apples', score: 4 },
        { phrase: 'green apples', score: 4 },
      ],
    });
    assert.deepEqual(flat, { rake_keywords: ['red apples', 'green apples'] });
  });
});

describe('TF-IDF', () => {
  it('weighs a word by the sentences that have it', () => {
    const found = keywords('TFIDFExtractor', 'Cats purr. Cats sleep. Dogs bark.', { max_ngram_size: 1 });
    // cats: 2 * (ln(4 / 3) + 1); the others: ln(4 / 2) + 1.
    assert.deepEqual(found.slice(0, 2), [
      { phrase: 'cats', score: 2.575364 },
      { phrase: 'purr', score: 1.693147 },
    ]);
    assert.equal(found.length, 5);
  });
});

describe('TextRank', () => {
  it('ranks the word in the middle of a star by the closed form', () => {
    // No phrase of one word is longer than another: hub is linked with spoke, wheel and rim alike.
    const found = keywords('KeywordExtractor', 'hub, the spoke hub. Wheel hub. Rim hub.', { algorithm: 'textrank', max_length: 1 });
    assert.equal(found[0]!.phrase, 'hub');
    assert.ok(Math.abs(found[0]!.score - 0.8875 / 1.85) < 1e-3, String(found[0]!.score));
  });
});

describe('YAKE', () => {
  it('scores a single word by the published features', () => {
    // One sentence, one word once: casing 0, position ln(ln(3)), frequency 1 / (1 + 0), relatedness 1, spread 1.
    const score = Math.log(Math.log(3)) / 2;
    assert.deepEqual(keywords('YAKEExtractor', 'quern'), [{ phrase: 'quern', score: Math.round((score / (1 + score)) * 1e6) / 1e6 }]);
  });

  it('scores words and phrases by hand-computed features', () => {
    // Frequencies 2, 1, 2, 1: mean 1.5, deviation 0.5. No capital counts, since they open sentences.
    const quern = (Math.log(Math.log(3.5)) * 2) / (1 / 2 + 1 / 2);
    const grinds = (Math.log(Math.log(3)) * 2) / (0.5 / 2 + 0.5 / 2);
    const expected = new Map([
      ['quern', quern / (2 * (1 + quern))],
      ['grinds', grinds / (1 + grinds)],
      ['quern grinds', (quern * grinds) / (1 + quern + grinds)],
    ]);
    const found = keywords('YAKEExtractor', 'Quern grinds grain. Quern stores grain.', { deduplication_threshold: 1 });
    for (const [phrase, score] of expected) {
      assert.equal(found.find((one) => one.phrase === phrase)?.score, Math.round(score * 1e6) / 1e6, phrase);
    }
  });

  it('gives the lowest score first, and prefers names', () => {
    const found = keywords('YAKEExtractor', 'We saw Quern at work and we saw corn at work.', { max_ngram_size: 1 });
    assert.equal(found[0]!.phrase, 'quern');
    assert.deepEqual(
      found.map((one) => one.score),
      found.map((one) => one.score).toSorted((a, b) => a - b),
    );
  });
});

describe('choosing among keywords', () => {
  it('measures likeness by edits', () => {
    assert.equal(likeness('kitten', 'sitting'), 1 - 3 / 7);
    assert.deepEqual([likeness('', ''), likeness('a', ''), likeness('same', 'same')], [1, 0, 1]);
  });

  it('leaves out phrases too like a better one', () => {
    const text = 'database system, database systems, engine';
    assert.equal(keywords('RAKEExtractor', text, { deduplication_threshold: 0.9 }).length, 2);
    assert.equal(keywords('RAKEExtractor', text, { deduplication_threshold: 1 }).length, 3);
  });

  it('has no words longer than words are, in text or in answer', () => {
    assert.deepEqual(keywords('RAKEExtractor', `${'x'.repeat(70)} short`), [{ phrase: 'short', score: 1 }]);
  });
});
