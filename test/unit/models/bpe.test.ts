import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bpe, splitWords } from '../../../models/writers/bpe.js';
import { BYTE_CHARS, spell, unspell } from '../../../runtime/engines/tokenizers/byte-alphabet.js';

const TEXTS = ['', 'hello world', "it's 42 — Größe 😀\n\n\tend  ", 'a\r\nb', '日本語 नमस्ते', '\u0000\u0001', '{"a": [1, 2]}'];

test('the byte alphabet gives each byte its own character', () => {
  assert.equal(new Set(BYTE_CHARS).size, 256);
  assert.equal(spell(' a\n'), 'ĠaĊ');
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  assert.deepEqual(new Uint8Array(unspell(spell(bytes))), bytes);
});

test('words are cut as the pre-tokeniser does', () => {
  assert.deepEqual(splitWords("Don't say 12, (yes)\n\n ok  x"), [
    'Don',
    "'t",
    ' say',
    ' ',
    '1',
    '2',
    ',',
    ' (',
    'yes',
    ')\n\n',
    ' ok',
    ' ',
    ' x',
  ]);
  for (const source of TEXTS) assert.equal(splitWords(source).join(''), source);
});

test('a trained vocabulary encodes any text and gives it back', () => {
  const bpe = new Bpe();
  bpe.train('the quern grinds the grain, the grain grinds the quern. '.repeat(3), 40);
  assert.ok(bpe.merges.length > 10 && bpe.merges.length <= 40);
  assert.equal(bpe.tokens.length, 256 + bpe.merges.length);
  for (const source of [...TEXTS, 'the quern']) {
    const tokens = bpe.encode(source);
    assert.ok(tokens.every((token) => bpe.tokens.includes(token)));
    assert.equal(unspell(tokens.join('')).toString('utf8'), source);
  }
  assert.deepEqual(bpe.encode('the the'), ['the', 'Ġthe']);
});

test('training is deterministic and breaks ties by spelling', () => {
  const train = (): string[] => {
    const bpe = new Bpe();
    bpe.train('zy ba zy ba', 1);
    return bpe.merges;
  };
  assert.deepEqual(train(), ['b a']);
  assert.deepEqual(train(), train());
});

test('added words are single tokens, whatever is added or learned later', () => {
  const bpe = new Bpe();
  const words = ['weather', 'Weather', 'think', 'the', 'heat', 'then', '_weather'];
  for (const word of words) bpe.addWord(word);
  bpe.train('weather forecasts think about the weather then '.repeat(5), 50, new Set(words.map((word) => spell(word))));
  for (const word of words) assert.deepEqual(bpe.encode(word), [spell(word)]);
  assert.deepEqual(bpe.encode('(weather'), ['(', 'weather']);
  assert.deepEqual(bpe.encode(' weather'), ['Ġ', 'weather']);
});
