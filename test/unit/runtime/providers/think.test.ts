import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ThinkSplitter } from '../../../../runtime/providers/compat/think.js';

const CASES: readonly (readonly [input: string, reasoning: string, text: string])[] = [
  ['hello', '', 'hello'],
  ['<think>a</think>b', 'a', 'b'],
  ['  \n<think>a b</think>\n\nc', 'a b', 'c'],
  ['<THINK>a</Think>b', 'a', 'b'],
  ['<think>never closed', 'never closed', ''],
  ['<think></think>', '', ''],
  ['<think>a</thin</think>b', 'a</thin', 'b'],
  ['<think>a < b</think>c', 'a < b', 'c'],
  ['x <think>a</think>', '', 'x <think>a</think>'],
  ['<thin', '', '<thin'],
  ['<thinner', '', '<thinner'],
  ['<think>a</think>b <think>c</think>', 'a', 'b <think>c</think>'],
  ['<think>a</th', 'a</th', ''],
  ['', '', ''],
];

describe('ThinkSplitter', () => {
  for (const [input, reasoning, text] of CASES)
    it(`splits ${JSON.stringify(input)} however it is cut`, () => {
      for (let size = 1; size <= Math.max(1, input.length); size++) {
        const splitter = new ThinkSplitter();
        const got = { reasoning: '', text: '' };
        for (let at = 0; at < input.length; at += size)
          for (const part of splitter.feed(input.slice(at, at + size))) got[part.type] += part.text;
        for (const part of splitter.end()) got[part.type] += part.text;
        assert.deepEqual(got, { reasoning, text }, `cut every ${size}`);
      }
    });

  it('does not look for a block when the host separates reasoning itself', () => {
    const splitter = new ThinkSplitter();
    splitter.skip();
    assert.deepEqual(splitter.feed('<think>'), [{ type: 'text', text: '<think>' }]);
  });
});
