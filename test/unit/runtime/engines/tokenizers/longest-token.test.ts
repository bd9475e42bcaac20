import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BYTE_CHARS, spell } from '../../../../../runtime/engines/tokenizers/byte-alphabet.js';
import { longestToken } from '../../../../../runtime/engines/tokenizers/longest-token.js';
import { TextTokenizer } from '../../../../../runtime/engines/tokenizers/text-tokenizer.js';

const BYTE_TOKENS = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
const MERGES: [string, string][] = [
  ['\u2581', 'w'],
  ['o', 'r'],
  ['\u2581w', 'or'],
  ['\u2581wor', 'd'],
  ['a', 'b'],
  ['\u2581', '\u2581'],
  ['\u2581\u2581', '\u2581\u2581'],
];
const replace = (from: object, content: string): object => ({ type: 'Replace', pattern: from, content });
const SPACES = replace({ String: ' ' }, '\u2581');
const sequence = (...normalizers: object[]): object => ({ type: 'Sequence', normalizers });
const LLAMA = sequence({ type: 'Prepend', prepend: '\u2581' }, SPACES);
const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const BYTE_MERGES: [string, string][] = [
  [spell(' '), 'w'],
  [spell(' w'), 'o'],
  [spell(' wo'), 'r'],
];

/** A tokenizer.json of byte pairs. */
function pairs(more: object, letters: readonly string[] = BYTE_TOKENS, merges = MERGES, model: object = { byte_fallback: true }): object {
  const texts = new Set([...letters, ...merges.flat(), ...merges.map((pair) => pair.join(''))]);
  const vocab = Object.fromEntries([...texts].map((text, id) => [text, id]));
  const rest = { version: '1.0', added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  return { ...rest, model: { type: 'BPE', vocab, merges, unk_token: null, ...model }, ...more };
}
const bytes = (more: object = {}): object => pairs({ pre_tokenizer: BYTE_LEVEL, ...more }, BYTE_CHARS, BYTE_MERGES, {});
const added = (more: object) => [{ id: 400, content: '<and on and on>', single_word: false, normalized: false, special: false, ...more }];

const CASES: [what: string, definition: object, expected: number | undefined][] = [
  ['byte pairs with a token of each byte', pairs({ normalizer: LLAMA }), 6],
  ['the same without a normalizer', pairs({}), 6],
  [
    'the same where spaces are marked before the model',
    pairs({ pre_tokenizer: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'first', split: false } }),
    6,
  ],
  ['the same with letters put together', pairs({ normalizer: sequence({ type: 'NFC' }, LLAMA) }), 24],
  ['the same with two letters that become one', pairs({ normalizer: replace({ String: 'ab' }, 'c') }), 12],
  ['byte pairs over bytes', bytes(), 4],
  ['the same with letters put together', bytes({ normalizer: { type: 'NFC' } }), 6],
  ['the same in lower case', bytes({ normalizer: { type: 'Lowercase' } }), 4],
  ['an added token that is longer', bytes({ added_tokens: added({}) }), 15],
  ['a special one that takes blanks', bytes({ added_tokens: added({ special: true, rstrip: true }) }), 15],
  ['an added token that takes blanks', bytes({ added_tokens: added({ rstrip: true }) }), undefined],
  ['byte pairs where a byte is missing', pairs({}, BYTE_TOKENS.slice(1)), undefined],
  ['byte pairs without tokens of bytes', pairs({}, BYTE_TOKENS, MERGES, { byte_fallback: false }), undefined],
  ['byte pairs over bytes where one is missing', pairs({ pre_tokenizer: BYTE_LEVEL }, BYTE_CHARS.slice(1), BYTE_MERGES, {}), undefined],
  ['a normalizer that drops', pairs({ normalizer: replace({ String: 'a' }, '') }), undefined],
  ['a normalizer that takes many for one', pairs({ normalizer: replace({ Regex: ' +' }, ' ') }), undefined],
  ['a normalizer that strips', pairs({ normalizer: sequence(LLAMA, { type: 'Strip', strip_left: true, strip_right: true }) }), undefined],
  ['words without what stands between them', pairs({ pre_tokenizer: { type: 'WhitespaceSplit' } }), undefined],
  [
    'a pattern that is left out',
    pairs({ pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'Removed', invert: false } }),
    undefined,
  ],
  [
    'a pattern that stands for itself',
    pairs({ pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'Isolated', invert: false } }),
    6,
  ],
  [
    'pieces of Unigram',
    {
      ...pairs({}),
      model: {
        type: 'Unigram',
        unk_id: 0,
        vocab: [
          ['<unk>', 0],
          ['a', -1],
        ],
      },
    },
    undefined,
  ],
  [
    'pieces of words',
    { ...pairs({}), model: { type: 'WordPiece', unk_token: 'a', vocab: { a: 0 }, continuing_subword_prefix: '##' } },
    undefined,
  ],
  ['nothing', {}, undefined],
];

describe('the most text that one token stands for', () => {
  for (const [what, definition, expected] of CASES)
    it(`is ${expected ?? 'unknown'}: ${what}`, () => assert.equal(longestToken(definition), expected));

  it('is never less than what a text shows', () => {
    const alphabet = [
      ' ',
      '  ',
      'word',
      ' word',
      'ab',
      'w',
      '\u00e9',
      'e\u0301',
      '\u03b1\u0313\u0300\u0345',
      '\u{2f800}',
      '\u{1f600}',
      '\n',
      '<0x0A>',
    ];
    for (const [what, definition, most] of CASES) {
      if (most === undefined) continue;
      const tokenizer = new TextTokenizer(definition, {});
      for (const letter of [...alphabet, alphabet.join('')]) {
        const text = letter.repeat(50);
        const tokens = tokenizer.encode(text, false).length;
        assert.ok(tokens >= text.length / most, `${what}: ${tokens} tokens of ${text.length} units of ${JSON.stringify(letter)}`);
      }
    }
  });

  it('counts how much of a text the forms of Unicode make one letter of', () => {
    const forms = [
      ['NFC', 'NFD', 4, 3 / 2],
      ['NFKC', 'NFKD', 5, 2],
    ] as const;
    for (const [composed, decomposed, units, ofBytes] of forms)
      for (let code = 0; code <= 0x10ffff; code += 1) {
        if (code >= 0xd800 && code <= 0xdfff) continue;
        const letter = String.fromCodePoint(code);
        const whole = letter.normalize(composed);
        // What makes this letter, its first part a compatible letter of two units perhaps.
        const parts =
          letter.normalize(decomposed).length + (composed === 'NFKC' && whole === letter && letter.normalize('NFD') !== letter ? 1 : 0);
        const most = Math.max(letter.length, parts);
        if (most <= whole.length) continue;
        assert.ok(most / whole.length <= units && most / Buffer.byteLength(whole) <= ofBytes, `U+${code.toString(16)}`);
        assert.ok(letter.toLowerCase().length >= letter.length, `U+${code.toString(16)} in lower case`);
      }
  });
});

it('merges the words of a long text one by one, to the tokens that all of it has', () => {
  const tokenizer = new TextTokenizer(pairs({ normalizer: LLAMA }), {});
  const text = 'word ab  word\u00e9     wwor\u{1f600} '.repeat(8);
  assert.ok(text.length < 256);
  const once = [...tokenizer.encode(text.trimEnd(), false)];
  const many = [...tokenizer.encode(Array.from({ length: 1_000 }, () => text.trimEnd()).join(' '), false)];
  assert.deepEqual(many, Array.from({ length: 1_000 }, () => once).flat());
  const letters = '\u{1f600}'.repeat(200_000);
  assert.equal(tokenizer.encode(letters, false).length, 4 * 200_000 + 1);
});
