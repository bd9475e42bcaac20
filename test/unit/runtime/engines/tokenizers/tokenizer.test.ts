import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Tokenizer } from '@huggingface/tokenizers';
import { seededRandom } from '../../../../../models/writers/random.js';
import { placesOf } from '../../../../../runtime/engines/encoders/onnx/token-places.js';
import { TextTokenizer } from '../../../../../runtime/engines/tokenizers/text-tokenizer.js';
import { EncoderTokenizer } from '../../../../../runtime/engines/tokenizers/tokenizer.js';
import { byteBpe, unigram, wordPiece } from '../../../../support/models/writers/tokenizer-writer.js';

const WORDS = { words: ['the', 'red', 'river', 'Anna'], modelMaxLength: 512 };
/** Syllables that words without white space are made of; the last ones are in no vocabulary. */
const SYLLABLES = ['re', 'd', 'river', 'ver', 'an', 'na', 'Anna', 'the', 'x', 'e', 'é', 'e\u0301', '長江', '江', '😀', '👩‍👩‍👧', '☃'];

/** XLM-R's kind of vocabulary with pieces that also stand inside words, each with a score of its own. */
function pieces(): { tokenizer: object; config: object } {
  const { tokenizer, config } = unigram(WORDS);
  const { model } = tokenizer as { model: { vocab: [string, number][] } };
  const known = new Set(model.vocab.map(([piece]) => piece));
  const random = seededRandom(5);
  const more = SYLLABLES.slice(0, -2).map((piece) => piece.normalize('NFKC'));
  for (const piece of new Set(more)) if (!known.has(piece)) model.vocab.push([piece, -8 - random.next()]);
  return { tokenizer, config };
}
/** Text without white space of at least so many UTF-16 units. */
function spaceless(length: number, seed = 1): string {
  const random = seededRandom(seed);
  const parts: string[] = [];
  for (let units = 0; units < length; units += parts.at(-1)!.length) parts.push(SYLLABLES[random.below(SYLLABLES.length)]!);
  return parts.join('');
}

const KINDS = { unigram: pieces(), bpe: byteBpe(WORDS), wordpiece: wordPiece(WORDS, true) };
const opened = ({ tokenizer, config }: { tokenizer: object; config: object }): EncoderTokenizer => new EncoderTokenizer(tokenizer, config);
/** What the library makes of a whole text. */
const whole = ({ tokenizer, config }: { tokenizer: object; config: object }, text: string): { ids: number[]; tokens: string[] } =>
  new Tokenizer(tokenizer, config).encode(text, { add_special_tokens: false });

describe('the tokenizer of an encoder', () => {
  it('counts both texts of a pair as one segment where its post-processor is that of RoBERTa, as two with that of BERT', () => {
    const { tokenizer: definition, config } = KINDS.bpe;
    const { post_processor } = definition as { post_processor?: object };
    const among = { ...definition, post_processor: { type: 'Sequence', processors: [{ type: 'ByteLevel' }, post_processor] } };
    for (const [files, segment] of [
      [KINDS.bpe, 0],
      [{ tokenizer: among, config }, 0],
      [KINDS.wordpiece, 1],
    ] as const) {
      const tokenizer = opened(files);
      const { types } = tokenizer.pair(tokenizer.body('red', 9), tokenizer.body('river', 9), 64);
      assert.equal(Math.max(...types), segment);
    }
  });

  for (const [kind, files] of Object.entries(KINDS)) {
    const tokenizer = opened(files);

    it(`gives the first tokens of a long text as those of the whole text (${kind})`, () => {
      const texts = [
        spaceless(30_000),
        'The red river. '.repeat(2000),
        `Anna ${spaceless(20_000, 2)} river`,
        'd'.repeat(90) + spaceless(9000),
      ];
      for (const text of texts) {
        const { ids } = whole(files, text);
        for (const limit of [0, 1, 7, 64, 512, 2000])
          assert.deepEqual(tokenizer.body(text, limit).ids.slice(0, limit), ids.slice(0, limit), `${limit} of ${text.slice(0, 20)}`);
        assert.deepEqual(tokenizer.body(text, text.length).ids, ids);
      }
    });

    it(`reads little of 600,000 characters without white space (${kind})`, () => {
      const text = spaceless(600_000);
      const { ids } = whole(files, text.slice(0, 20_000));
      const body = tokenizer.body(text, 512);
      assert.deepEqual(body.ids.slice(0, 512), ids.slice(0, 512));
      assert.equal(tokenizer.single(body, 512).ids.length, 512);
      assert.ok(body.ids.length < 100_000, `${body.ids.length} tokens`);
    });

    it(`counts more tokens than are searched for entities without reading on (${kind})`, () => {
      const { ids } = tokenizer.body(`${spaceless(600_000)} Anna`, 32_768);
      assert.ok(ids.length > 32_768 && ids.length < 300_000, `${ids.length} tokens`);
    });
  }

  for (const [kind, { tokenizer: definition, config }] of Object.entries(KINDS)) {
    const left = { tokenizer: definition, config: { ...config, truncation_side: 'left' } };

    it(`keeps the end of a text where truncation_side says so (${kind})`, () => {
      const tokenizer = opened(left);
      const framing = tokenizer.framing(false);
      const texts = ['', 'red', 'The red river. '.repeat(2000), `${spaceless(20_000, 2)} river Anna`, spaceless(30_000)];
      for (const text of texts) {
        const { ids } = whole(left, text);
        for (const limit of [0, 1, 2, 3, 7, 64, 512, 2000]) {
          const encoded = tokenizer.text(tokenizer.truncated(text, limit), limit);
          const room = Math.min(ids.length, Math.max(0, limit - framing));
          const own = encoded.ids.slice(encoded.bodyStart, encoded.bodyStart + room);
          assert.deepEqual(own, ids.slice(ids.length - room), `${limit} of ${text.slice(0, 20)}`);
          assert.equal(encoded.ids.length, framing + room);
        }
      }
    });
  }

  const SIDES: [object, object, boolean][] = [
    [{}, {}, false],
    [{ truncation_side: 'right' }, {}, false],
    [{ truncation_side: 'left' }, {}, true],
    [{}, { truncation: { direction: 'Left', max_length: 8 } }, true],
    [{ truncation_side: 'right' }, { truncation: { direction: 'Left', max_length: 8 } }, false],
  ];
  for (const [config, definition, keepsEnd] of SIDES)
    it(`cuts the ${keepsEnd ? 'beginning' : 'end'} with ${JSON.stringify({ ...config, ...definition })}`, () => {
      const { tokenizer, config: usual } = KINDS.wordpiece;
      const one = opened({ tokenizer: { ...tokenizer, ...definition }, config: { ...usual, ...config } });
      const [the, red, river] = one.body('the red river', 8).ids;
      const kept = keepsEnd ? [red, river] : [the, red];
      assert.deepEqual(one.text(one.truncated('the red river', 4), 4).ids.slice(1, -1), kept);
      assert.deepEqual(one.pair(one.truncated('the red river', 6), one.truncated('red', 6), 6).ids.slice(1, 3), kept);
    });

  // What Python's tokenizers 0.23.3 keep of pairs, framed by three tokens.
  const PAIRS: [side: string, limit: number, first: string, second: string, kept: string][] = [
    ['left', 9, 'a b', 'c d e f g h', 'a b | e f g h'],
    ['left', 7, 'a b', 'c d e f g h', 'a b | g h'],
    ['left', 6, 'a b', 'c d e f g h', 'b | g h'],
    ['left', 8, 'a b c d e', 'f g h i', 'c d e | h i'],
    ['left', 6, 'a b c d e', 'f g h i', 'd e | i'],
    ['left', 7, 'a b c d e', 'f', 'c d e | f'],
    ['right', 9, 'a b', 'c d e f g h', 'a b | c d e f'],
    ['right', 6, 'a b', 'c d e f g h', 'a | c d'],
    ['right', 6, 'a b c d e', 'f g h i', 'a b | f'],
    ['right', 7, 'a b c d e', 'f', 'a b c | f'],
  ];
  const letters = wordPiece({ words: 'a b c d e f g h i'.split(' '), modelMaxLength: 64 }, true);
  for (const [side, limit, first, second, kept] of PAIRS)
    it(`keeps "${kept}" of "${first}" and "${second}" in ${limit} tokens from the ${side}`, () => {
      const one = opened({ tokenizer: letters.tokenizer, config: { ...letters.config, truncation_side: side } });
      const { ids } = one.pair(one.truncated(first, limit), one.truncated(second, limit), limit);
      const idsOf = (text: string): readonly number[] => one.body(text, 64).ids;
      const [start, end] = [ids[0]!, ids.at(-1)!];
      const [left, right] = kept.split(' | ') as [string, string];
      assert.deepEqual(ids, [start, ...idsOf(left), end, ...idsOf(right), end]);
    });

  it('reads on where much of a text is one token', () => {
    const { tokens } = opened(KINDS.unigram).body(`${'☃'.repeat(300_000)} river`, 64);
    assert.deepEqual([tokens.length, tokens.at(-1)], [3, '▁river']);
    const word = opened(KINDS.wordpiece).body(`${'x'.repeat(300_000)} river`, 64);
    assert.deepEqual(word.tokens, ['[UNK]', 'river']);
  });

  it('reads characters that the vocabulary sees as many', () => {
    const text = '\uFDFA'.repeat(65_536);
    const { ids } = whole(KINDS.unigram, text.slice(0, 1000));
    assert.deepEqual(opened(KINDS.unigram).body(text, 512).ids.slice(0, 512), ids.slice(0, 512));
    assert.ok(opened(KINDS.unigram).body(text, 32_768).ids.length > 32_768);
  });

  it('keeps the places of tokens in a long word', () => {
    const tokenizer = opened(KINDS.unigram);
    const text = `${spaceless(30_000).normalize()} Anna`;
    const { tokens } = tokenizer.body(text, 32_768);
    const places = placesOf(text, tokens, tokenizer);
    assert.deepEqual(places, placesOf(text, whole(KINDS.unigram, text).tokens, tokenizer));
    assert.deepEqual(places.at(-1), { start: text.length - 4, end: text.length });
    const found = places.flatMap((place) => (place ? [place] : []));
    for (const [at, { start }] of found.entries()) assert.equal(text.slice(found[at - 1]?.end ?? 0, start).trim(), '');
  });
});

describe('the tokenizer of a model that writes', () => {
  it('takes a text of more tokens than the library lays out at once', () => {
    const { tokenizer, config } = KINDS.unigram;
    const text = spaceless(300_000);
    const ids = [...new TextTokenizer(tokenizer, config).encode(text, false)];
    assert.ok(ids.length > 120_000, `${ids.length} tokens`);
    const first = whole(KINDS.unigram, text.slice(0, 9000)).ids.slice(0, 2000);
    assert.deepEqual(ids.slice(0, 2000), first);
  });
});
