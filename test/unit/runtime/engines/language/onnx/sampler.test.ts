import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sampling } from '../../../../../../runtime/engines/contracts/language.js';
import { cutPast, type Past, SeenPrompts } from '../../../../../../runtime/engines/language/onnx/past-states.js';
import { logOfSum, mostLikely, Sampler } from '../../../../../../runtime/engines/language/onnx/sampler.js';

const LOGITS = [0, 2, 1, -1, 2.5];
const NONE = new Int32Array();

/** How often each token is drawn. */
function drawn(settings: Sampling, count = 4000): number[] {
  const sampler = new Sampler({ seed: 1, min_p: 0, top_k: 0, ...settings }, NONE);
  const counts = [0, 0, 0, 0, 0];
  for (let draw = 0; draw < count; draw += 1) counts[sampler.choose(Float32Array.from(LOGITS))]! += 1;
  return counts.map((times) => times / count);
}

describe('the sampler', () => {
  it('takes the likeliest at temperature 0', () => assert.deepEqual(drawn({ temperature: 0 }, 5), [0, 0, 0, 0, 1]));

  it('finds the likeliest of many, the first of equal ones first', () => {
    const logits = Float32Array.from({ length: 5000 }, (_, token) => (token * 7919) % 501);
    const sorted = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]! || a - b);
    for (const count of [0, 1, 20, 1000, 2000, 6000])
      assert.deepEqual(
        mostLikely(logits, count).map(({ token }) => token),
        sorted.slice(0, count),
      );
  });

  it('draws by probability', () => {
    const total = LOGITS.reduce((sum, logit) => sum + Math.exp(logit), 0);
    for (const [token, share] of drawn({}).entries())
      assert.ok(Math.abs(share - Math.exp(LOGITS[token]!) / total) < 0.03, `${token}: ${share}`);
  });

  const limits: [Sampling, number[]][] = [
    [{ top_k: 2 }, [1, 4]],
    [{ top_k: 1 }, [4]],
    [{ top_p: 0.5 }, [4]],
    [{ top_p: 0.9 }, [1, 2, 4]],
    [{ min_p: 0.5 }, [1, 4]],
    [{ min_p: 1 }, [4]],
    [{ logit_bias: { 0: 100 } }, [0]],
    [{ temperature: 0.01 }, [4]],
  ];
  for (const [settings, allowed] of limits) {
    it(JSON.stringify(settings), () => {
      const seen = drawn(settings).flatMap((share, token) => (share > 0 ? [token] : []));
      assert.deepEqual(seen, allowed);
    });
  }

  it('draws the same for the same seed, and others for others', () => {
    const path = (seed: number): number[] => {
      const sampler = new Sampler({ seed, min_p: 0 }, NONE);
      return Array.from({ length: 40 }, () => sampler.choose(Float32Array.from(LOGITS)));
    };
    assert.deepEqual(path(7), path(7));
    assert.notDeepEqual(path(7), path(8));
  });

  it('is kept from repeating', () => {
    const next = (settings: Sampling, prompt: number[] = []): number => {
      const sampler = new Sampler({ temperature: 0, ...settings }, Int32Array.from(prompt));
      sampler.accept(4);
      sampler.accept(4);
      return sampler.choose(Float32Array.from(LOGITS));
    };
    assert.equal(next({}), 4);
    assert.equal(next({ presence_penalty: 1 }), 1);
    assert.equal(next({ frequency_penalty: 0.3 }), 1);
    assert.equal(next({ repeat_penalty: 2 }), 1);
    assert.equal(next({ repeat_penalty: 2 }, [1]), 4, 'what the prompt holds counts too');
  });

  it('gives true logarithms of probability', () => {
    const [first, second] = mostLikely(Float32Array.from([0, Math.log(3)]), 2);
    assert.deepEqual([first!.token, second!.token], [1, 0]);
    assert.ok(Math.abs(Math.exp(first!.logprob) - 0.75) < 1e-6 && Math.abs(Math.exp(second!.logprob) - 0.25) < 1e-6);
    assert.ok(Math.abs(logOfSum(Float32Array.from([1000, 1000])) - (1000 + Math.log(2))) < 1e-3, 'large logits stay finite');
  });
});

/** Two heads of two values; each token's values tell head and place. */
const past = (length: number) => ({
  length,
  tensors: {
    k: {
      type: 'float32' as const,
      dims: [1, 2, length, 2],
      data: Float32Array.from({ length: 4 * length }, (_, at) => Math.floor(at / (2 * length)) * 100 + Math.floor((at % (2 * length)) / 2)),
    },
  },
});

describe('keys and values', () => {
  it('are cut per head', () => {
    const { length, tensors } = cutPast(past(4), 2);
    assert.equal(length, 2);
    assert.deepEqual(tensors.k!.dims, [1, 2, 2, 2]);
    assert.deepEqual([...tensors.k!.data], [0, 0, 1, 1, 100, 100, 101, 101]);
    assert.equal(cutPast(past(4), 9).length, 4);
  });

  it('of the longest common beginning are found, and the last token is left to read', () => {
    const histories = new SeenPrompts();
    histories.keep(Int32Array.of(1, 2, 3, 4), past(4));
    histories.keep(Int32Array.of(1, 9, 9), past(3));
    assert.equal(histories.find(Int32Array.of(1, 2, 3, 7))?.length, 3);
    assert.equal(histories.find(Int32Array.of(1, 2, 3))?.length, 2);
    assert.equal(histories.find(Int32Array.of(5, 2)), undefined);
    histories.keep(Int32Array.of(6), past(1));
    assert.equal(histories.find(Int32Array.of(1, 2, 3, 7))?.length, 1, 'only the newest are kept');
  });

  it('with states are used for texts that begin with all of theirs', () => {
    const stated = (length: number): Past => ({
      length,
      tensors: { 'past_conv.0': { type: 'float32', dims: [1, 1], data: Float32Array.of(length) } },
    });
    const histories = new SeenPrompts();
    histories.keep(Int32Array.of(1, 2), stated(2));
    histories.keep(Int32Array.of(1, 2, 3, 4, 5), stated(4));
    const lengths = [
      [1, 2, 3, 4, 7],
      [1, 2, 3, 4],
      [1, 2, 3],
      [1, 2],
    ].map((prompt) => histories.find(Int32Array.from(prompt))?.length);
    assert.deepEqual(lengths, [4, 2, 2, undefined]);
    for (const token of [6, 7, 8]) histories.keep(Int32Array.of(token), stated(1));
    assert.deepEqual(
      [histories.find(Int32Array.of(1, 2, 3, 4, 7))?.length, histories.find(Int32Array.of(1, 2, 3))?.length],
      [4, undefined],
    );
  });
});
