import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PhraseOptions, PhraseSplitter } from '../../../../runtime/voice/phrases.js';

/** The phrases of a text, which must not depend on how it is cut into tokens beyond the one of look-ahead. */
function phrases(text: string, options: PhraseOptions = {}): string[] {
  const cuts = [text.match(/\s*\S+|\s+/g) ?? [], [...text], [text]];
  const [words, ...others] = cuts.map((tokens) => {
    const splitter = new PhraseSplitter(options);
    return [...tokens.flatMap((token) => splitter.push(token)), ...splitter.end()].map(({ text: phrase, isCode }) =>
      isCode ? `<${phrase}>` : phrase,
    );
  });
  for (const other of others) assert.deepEqual(other, words);
  return words!;
}

const SENTENCES = { sentencesOnly: true };
const EARLY = { sentencesOnly: false };

test('cuts where the rules say', () => {
  const rows: [text: string, expected: string[], options?: PhraseOptions][] = [
    ['Hi. How are you? Fine!', ['Hi.', 'How are you?', 'Fine!']],
    ['It costs 3.50 euros. Really.', ['It costs 3.50 euros.', 'Really.'], SENTENCES],
    ['Dr. Smith met Mr. J. Jones at 5 p.m. today. He left.', ['Dr. Smith met Mr. J. Jones at 5 p.m. today.', 'He left.'], SENTENCES],
    ['1. First of all\n2. Then the second', ['1. First of all', '2. Then the second'], SENTENCES],
    ['He said "no." Then he left.', ['He said "no."', 'Then he left.'], SENTENCES],
    ['See e.g. this page. Done.', ['See e.g. this page.', 'Done.'], SENTENCES],
    ['Wait... what?! Yes.', ['Wait...', 'what?!', 'Yes.'], SENTENCES],
    ['今日は。元気ですか？', ['今日は。', '元気ですか？'], SENTENCES],
    ['A title without a dot\nand a line', ['A title without a dot', 'and a line'], SENTENCES],
    // The first phrase may end early, unless the caller says otherwise.
    ['Sure, I can help you with that. Ask me, please.', ['Sure,', 'I can help you with that.', 'Ask me, please.']],
    ['Yes, I can help you. Ask.', ['Yes, I can help you.', 'Ask.']],
    ['one two three four five six seven eight nine ten. End.', ['one two three four five six seven eight', 'nine ten.', 'End.']],
    ['Sure, I can help you with all of that today. End.', ['Sure, I can help you with all of that today.', 'End.'], SENTENCES],
    ['Look:\n```js\nlet x = 1;\n```\nThat was it.', ['Look:', '<js\nlet x = 1;>', 'That was it.'], SENTENCES],
    ['   ', []],
    ['', []],
  ];
  for (const [text, expected, options] of rows) assert.deepEqual(phrases(text, options), expected, text);
});

test('cuts within sentences only where that is asked for', () => {
  const text = 'First comes this part; then that one, (and this as well) - and the end of it.';
  assert.deepEqual(phrases(text, EARLY), ['First comes this part;', 'then that one,', '(and this as well)', '- and the end of it.']);
  assert.deepEqual(phrases(text, SENTENCES), [text]);
  const joined = 'The quick brown fox jumps over the lazy dog and then it sleeps';
  assert.deepEqual(phrases(joined, EARLY), ['The quick brown fox jumps over the lazy dog', 'and then it sleeps']);
});

test('a phrase that has no end is cut at 500 characters or 80 words', () => {
  for (const text of ['word '.repeat(400), 'x'.repeat(5000), 'first part, then '.repeat(60)]) {
    const all = phrases(text, SENTENCES);
    assert.ok(all.every((phrase) => phrase.length <= 500 && phrase.split(' ').length <= 81));
    assert.equal(all.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
  }
});

test('a mark waits for one more token', () => {
  const splitter = new PhraseSplitter(SENTENCES);
  assert.deepEqual(splitter.push('It is 3.'), []);
  assert.deepEqual(splitter.push('5 metres.'), []);
  assert.deepEqual(splitter.push(' Yes'), [{ text: 'It is 3.5 metres.', isCode: false }]);
});
