import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emailsIn, urlsIn } from '../../../../../runtime/documents/text/addresses.js';
import { syllablesOf } from '../../../../../runtime/documents/text/known-words.js';
import { pageRank } from '../../../../../runtime/documents/text/rank.js';
import { linesOf, sentencesOf } from '../../../../../runtime/documents/text/sentences.js';
import { stopWordsOf } from '../../../../../runtime/documents/text/stop-words.js';
import { type Span, wordsOf } from '../../../../../runtime/documents/text/words.js';

const texts = (spans: Iterable<Span>): string[] => [...spans].map((span) => span.text);

/** Every span must be what its offsets cut out of the text. */
function offsetsHold(text: string, spans: Iterable<Span>): void {
  for (const span of spans) assert.equal(text.slice(span.start, span.end), span.text);
}

describe('words', () => {
  it('splits at everything but letters, digits and single joints', () => {
    const text = "State-of-the-art, don't; foo_bar -- x1 «café» 3.5 it’s";
    assert.deepEqual(texts(wordsOf(text)), ['State-of-the-art', "don't", 'foo_bar', 'x1', 'café', '3', '5', 'it’s']);
    offsetsHold(text, wordsOf(text));
  });

  it('splits scripts without spaces by dictionary, at the right offsets behind characters outside the BMP', () => {
    const text = '😀 日本語の文章 ok';
    assert.deepEqual(texts(wordsOf(text)), ['日本語', 'の', '文章', 'ok']);
    offsetsHold(text, wordsOf(text));
  });

  it('takes a long run of such a script piece by piece', () => {
    const text = '漢字'.repeat(30_000);
    offsetsHold(text, wordsOf(text));
    assert.equal(wordsOf(text).at(-1)!.end, text.length);
  });
});

describe('sentences', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['One. Two! Three? Four', ['One.', 'Two!', 'Three?', 'Four']],
    ['Dr. Smith met J. R. Jones. They left.', ['Dr. Smith met J. R. Jones.', 'They left.']],
    ['It costs 3.50 e.g. today. See fig. 3.', ['It costs 3.50 e.g. today.', 'See fig. 3.']],
    ['He said "Go!" Then he left. (Really.) Yes.', ['He said "Go!"', 'Then he left.', '(Really.)', 'Yes.']],
    ['Wait... what? so', ['Wait... what? so']],
    ['No stop\n\nNext paragraph', ['No stop', 'Next paragraph']],
    ['# Title\nText goes on\nhere.', ['# Title', 'Text goes on\nhere.']],
    ['List:\n- one\n- two\n1. three', ['List:', '- one', '- two', '1. three']],
    ['日本語です。次の文。', ['日本語です。', '次の文。']],
    ['  \n ', []],
  ];
  for (const [text, expected] of cases) {
    it(JSON.stringify(text), () => {
      assert.deepEqual(texts(sentencesOf(text)), expected);
      offsetsHold(text, sentencesOf(text));
    });
  }
});

describe('syllables', () => {
  // Counted by hand after a dictionary's division of the words.
  const counted =
    'the 1 make 1 makes 1 baked 1 waited 2 settled 2 called 1 hundred 2 table 2 tables 2 boxes 2 watches 2 faces 2 readability 5 computer 3 ' +
    'information 4 international 5 media 3 radio 3 video 3 actual 3 social 2 initial 3 evaluate 4 variation 4 various 3 precious 2 million 2 ' +
    'region 2 period 3 society 4 client 2 variety 4 experience 4 science 2 patient 2 reality 4 create 2 creation 3 react 2 real 2 theory 3 ' +
    'idea 3 going 2 flying 2 capitalism 5 chaos 2 poem 2 continuous 4 continuity 5 safely 2 movement 2 careful 2 element 3 whole 1 file 1 ' +
    'simple 2 people 2 university 5 beautiful 3 business 2 queen 1 happiest 3 fuel 2 cruel 2 strength 1 through 1 eight 1 rhythm 2 fox 1 ' +
    'analysis 4 necessary 4 january 4 algorithm 4 audience 3 diamond 3 giant 2 brilliant 2 familiar 3 fashion 2 horse 1 cried 1 played 1';
  const pairs = [...counted.matchAll(/(\S+) (\d)/g)];
  for (const [, word, count] of pairs) it(`${word} has ${count}`, () => assert.equal(syllablesOf(word!), Number(count)));

  it('counts parts of compounds, other alphabets and what is no word', () => {
    assert.deepEqual(['well-known', 'café', 'молоко', '日本', '2024', "can't"].map(syllablesOf), [2, 2, 3, 2, 1, 1]);
  });
});

describe('addresses', () => {
  it('leaves out what belongs to the sentence', () => {
    const text =
      '(see https://en.wikipedia.org/wiki/A_(b)). Also <www.x.org/>, "http://localhost:80/a?b=c#d"! xhttp://no https:// ftp://f.org.';
    const expected = ['https://en.wikipedia.org/wiki/A_(b)', 'www.x.org/', 'http://localhost:80/a?b=c#d', 'ftp://f.org'];
    assert.deepEqual(texts(urlsIn(text)), expected);
    offsetsHold(text, urlsIn(text));
  });

  it('finds mail addresses', () => {
    const text = "a@b.co, John.O'Neil+x@mail.example.org. no@host @x.org jörg@büro.de a@b.c1";
    assert.deepEqual(texts(emailsIn(text)), ['a@b.co', "John.O'Neil+x@mail.example.org", 'jörg@büro.de']);
  });
});

describe('lines, stop words and ranks', () => {
  it('numbers lines across every line end', () => {
    assert.deepEqual(
      linesOf('a\r\nb\rc\n\nd').map((line) => [line.number, line.start, line.text]),
      [
        [1, 0, 'a'],
        [2, 3, 'b'],
        [3, 5, 'c'],
        [4, 7, ''],
        [5, 8, 'd'],
      ],
    );
    assert.equal(linesOf('a\n').length, 1);
  });

  it('knows stop words by language tag', () => {
    assert.ok(stopWordsOf('en-US').has('the') && stopWordsOf('de_AT').has('und') && !stopWordsOf('de').has('the'));
    assert.equal(stopWordsOf('__proto__').size + stopWordsOf('tlh').size, 0);
  });

  it('ranks the middle of a star by the closed form', () => {
    const ranks = pageRank({ size: 4, from: [0, 0, 0], to: [1, 2, 3], weights: [1, 1, 1] });
    // r0 = 0.15/4 + 0.85 * 3 r1 and r0 + 3 r1 = 1, so r0 = (0.0375 + 0.85) / 1.85.
    assert.ok(Math.abs(ranks[0]! - 0.8875 / 1.85) < 1e-3, String(ranks[0]));
    assert.ok(Math.abs(ranks.reduce((sum, one) => sum + one, 0) - 1) < 1e-9);
  });
});
