import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainMessage } from '../../../../runtime/completions/messages.js';
import { type SplitPiece, ThinkingSplitter, thinkingPlan, withSoftSwitch } from '../../../../runtime/completions/thinking.js';

function joined(pieces: SplitPiece[]): { text: string; reasoning: string } {
  const of = (type: SplitPiece['type']) =>
    pieces
      .filter((piece) => piece.type === type)
      .map((piece) => piece.text)
      .join('');
  return { text: of('text'), reasoning: of('reasoning') };
}

function split(chunks: string[], startsInThinking: boolean): { text: string; reasoning: string } {
  const splitter = new ThinkingSplitter(startsInThinking);
  const pieces = chunks.flatMap((chunk) => splitter.push(chunk));
  assert.ok(
    [...pieces].every((piece) => piece.text !== ''),
    'no empty piece',
  );
  return joined([...pieces, ...splitter.end()]);
}

/** name, output, prompt opened a block, text, reasoning */
const CASES: [string, string, boolean, string, string][] = [
  ['a block and an answer', '<think>\nhm, yes\n</think>\n\nHello.', false, 'Hello.', 'hm, yes'],
  ['no block', 'Hello <b>there</b>', false, 'Hello <b>there</b>', ''],
  ['any letter case', '<THINK>a</Think>b', false, 'b', 'a'],
  ['an open block', '<think>never done', false, '', 'never done'],
  ['a stray end', 'a</think>b', false, 'ab', ''],
  ['a stray end at the start', '\n</think>\n\nb', false, 'b', ''],
  ['an empty block', '<think>\n\n</think>\n\nok', false, 'ok', ''],
  ['a block that the prompt opened', 'deep\n</think>\nok', true, 'ok', 'deep'],
  ['a prompt block that never ends', '  deep ', true, '', 'deep'],
  ['two blocks', '<think>a</think>\n<think>b</think>c', false, 'c', 'ab'],
  ['a tag inside the answer', 'the tag <think> is text', false, 'the tag <think> is text', ''],
  ['blank space before the block', ' \n<think>a</think>b', false, 'b', 'a'],
  ['leading blank space of an answer', '  indented', false, '  indented', ''],
  ['text that looks like a tag', '<thin ice', false, '<thin ice', ''],
  ['the beginning of a tag at the end', 'a </thi', false, 'a </thi', ''],
  ['only blank space', ' \n', false, ' \n', ''],
  ['letters that grow in lower case', 'İİ</think>İ', false, 'İİİ', ''],
  ['blank space inside thinking', '<think>a\n\n b </think> c', false, 'c', 'a\n\n b'],
];

describe('the thinking splitter', () => {
  for (const [name, output, open, text, reasoning] of CASES) {
    it(`${name}, wherever the output is cut`, () => {
      const expected = { text, reasoning };
      assert.deepEqual(split([output], open), expected);
      assert.deepEqual(split([...output], open), expected, 'one character at a time');
      for (let i = 0; i <= output.length; i += 1) {
        for (let j = i; j <= output.length; j += 1) {
          assert.deepEqual(split([output.slice(0, i), output.slice(i, j), output.slice(j)], open), expected, `cut at ${i} and ${j}`);
        }
      }
    });
  }

  const cut: [string, string, boolean, string, string][] = [
    ['a closing tag', '<think>a</thi', false, '', 'a'],
    ['the closing tag of a block that the prompt opened', 'a\n</', true, '', 'a'],
    ['an opening tag', '<thi', false, '', ''],
    ['a stray closing tag', 'a </THI', false, 'a ', ''],
    ['a sign', 'a <', false, 'a <', ''],
  ];
  for (const [name, output, open, text, reasoning] of cut) {
    it(`leaves out half of ${name} where the output is cut`, () => {
      const splitter = new ThinkingSplitter(open);
      assert.deepEqual(joined([...splitter.push(output), ...splitter.end({ isCut: true })]), { text, reasoning });
    });
  }

  it('lets text flow that cannot become a tag', () => {
    const splitter = new ThinkingSplitter();
    assert.deepEqual(splitter.push('Hello'), [{ type: 'text', text: 'Hello' }]);
    assert.deepEqual(splitter.push(' wor<'), [{ type: 'text', text: ' wor' }]);
    assert.deepEqual(splitter.push('b'), [{ type: 'text', text: '<b' }]);
  });
});

const template = (text: string, thinking = false) => ({
  template: { present: true, text, hash: '', tools: false, thinking },
  architecture: 'llama',
});

describe('the thinking switch', () => {
  it('uses what the template knows, and only true turns it on', () => {
    assert.deepEqual(thinkingPlan(template('{{ enable_thinking }} /think', true), true), { enableThinking: true });
    assert.deepEqual(thinkingPlan(template('{{ enable_thinking }}', true), undefined), { enableThinking: false });
    assert.deepEqual(thinkingPlan(template('say /no_think'), false), { softSwitch: '/no_think' });
    assert.deepEqual(thinkingPlan(template('say /think'), true), { softSwitch: '/think' });
    assert.deepEqual(thinkingPlan({ ...template(''), architecture: 'qwen3moe' }, true), { softSwitch: '/think' });
    assert.deepEqual(thinkingPlan(template('<think>'), true), {});
  });

  it('appends the word to the last user message once and leaves the input alone', () => {
    const messages: PlainMessage[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
      { role: 'assistant', content: 'd' },
    ];
    const frozen = structuredClone(messages);
    assert.deepEqual(
      withSoftSwitch(messages, { softSwitch: '/no_think' }).map((message) => message.content),
      ['a', 'b', 'c /no_think', 'd'],
    );
    assert.deepEqual(messages, frozen);
    const present: PlainMessage[] = [{ role: 'user', content: 'x /think' }];
    assert.deepEqual(withSoftSwitch(present, { softSwitch: '/no_think' }), present);
    assert.deepEqual(withSoftSwitch(messages, {}), messages);
  });
});
