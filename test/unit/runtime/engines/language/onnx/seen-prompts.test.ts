import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Past, SeenPrompts } from '../../../../../../runtime/engines/language/onnx/past-states.js';

/** What a graph with a state has seen of a text: 4 bytes. */
const seen = (length: number): Past => ({
  length,
  tensors: { 'past_conv.0': { type: 'float32', dims: [1, 1], data: Float32Array.of(length) } },
});
const lengths = (histories: SeenPrompts, ...texts: Int32Array[]): (number | undefined)[] =>
  texts.map((text) => histories.find(Int32Array.of(...text, 0))?.length);
const texts = Array.from({ length: 6 }, (_, index) => Int32Array.of(index, 1, 2).subarray(0, 3));

it('keeps the four newest texts that cannot be cut, each once', () => {
  const histories = new SeenPrompts();
  for (const text of [texts[0]!, texts[1]!, texts[2]!, texts[0]!, texts[0]!, texts[3]!]) histories.keep(text, seen(3));
  assert.deepEqual(lengths(histories, ...texts), [3, 3, 3, 3, undefined, undefined]);
  histories.keep(texts[4]!, seen(3));
  assert.deepEqual(lengths(histories, ...texts), [3, undefined, 3, 3, 3, undefined]);
});

it('keeps no more bytes than it may, but always the newest text', () => {
  const histories = new SeenPrompts(9);
  for (const text of texts.slice(0, 3)) histories.keep(text, seen(3));
  assert.deepEqual(lengths(histories, ...texts), [undefined, 3, 3, undefined, undefined, undefined]);
  const small = new SeenPrompts(1);
  for (const text of texts.slice(0, 2)) small.keep(text, seen(3));
  assert.deepEqual(lengths(small, ...texts.slice(0, 2)), [undefined, 3]);
});
