import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ThinkingBudget } from '../../../../../../runtime/engines/language/onnx/sampler.js';

const accept = (thinking: ThinkingBudget, ...tokens: number[]): ThinkingBudget => {
  for (const token of tokens) thinking.accept(token);
  return thinking;
};
const FREE = Number.POSITIVE_INFINITY;

// The same cases as of the native engine (test/native/thinking_test.cpp).
describe('the budget of a thinking block', () => {
  it('does nothing without tags', () => {
    const thinking = accept(new ThinkingBudget({ start: [], end: [] }, 0, true), 1, 2);
    assert.deepEqual([thinking.forced, thinking.count], [undefined, 0]);
  });

  it('counts between the tags', () => {
    const thinking = accept(new ThinkingBudget({ start: [1, 2], end: [3, 4] }, FREE, false), 9, 1, 2, 7, 7, 3, 7, 3, 4);
    assert.equal(thinking.count, 4);
    assert.deepEqual([accept(thinking, 7, 7).count, thinking.forced], [4, undefined]);
  });

  it('forces the end when the budget is spent', () => {
    const thinking = new ThinkingBudget({ start: [1], end: [3, 4] }, 2, true);
    assert.equal(thinking.forced, undefined);
    assert.equal(accept(thinking, 7, 7).forced, 3);
    assert.equal(accept(thinking, 3).forced, 4);
    assert.deepEqual([accept(thinking, 4).forced, thinking.count], [undefined, 2]);
  });

  it('forces at once where there is no budget', () => {
    const thinking = new ThinkingBudget({ start: [1], end: [3] }, 0, false);
    assert.equal(thinking.forced, undefined);
    assert.equal(accept(thinking, 1).forced, 3);
  });

  it('ends what has begun instead of repeating it', () => {
    const thinking = accept(new ThinkingBudget({ start: [1], end: [3, 4, 5] }, 2, true), 7, 3);
    assert.equal(thinking.forced, undefined);
    assert.equal(accept(thinking, 4).forced, undefined);
    assert.deepEqual([accept(thinking, 7).count, thinking.forced], [4, 3]);
  });
});
