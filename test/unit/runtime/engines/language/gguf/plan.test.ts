import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LanguageOptions } from '../../../../../../runtime/engines/contracts/language.js';
import { computedMaximum, type PlannedModel, planLoad } from '../../../../../../runtime/engines/language/gguf/plan.js';

const GB = 1024 ** 3;
/** Qwen2.5-1.5B's shape: 28 layers with 2 key-value heads of 128. */
const MODEL: PlannedModel = {
  path: '/m/x.gguf',
  sizeBytes: 1 * GB,
  contextLength: 32_768,
  headsKvTotal: 56,
  keyLength: 128,
  valueLength: 128,
};
const plan = (options: LanguageOptions, availableGb: number, model: Partial<PlannedModel> = {}) =>
  planLoad({ ...MODEL, ...model }, options, { availableBytes: availableGb * GB, threads: 4 });

describe('load plan', () => {
  it('computes a power of two between 512 and 131072', () => {
    assert.equal(computedMaximum(8 * GB, 8 * GB, 1000), 512);
    for (const free of [1, 3, 7, 12, 60, 500]) {
      const most = computedMaximum(free * GB, GB, 37_272);
      assert.equal(Math.log2(most) % 1, 0);
      assert.ok(most >= 512 && most <= 131_072);
    }
  });

  const contexts: [string, LanguageOptions, number, Partial<PlannedModel>, number | ((size: number) => boolean), RegExp | null][] = [
    ['what is asked for where it fits', { n_ctx: 8192 }, 16, {}, 8192, null],
    ['odd sizes as they are', { n_ctx: 10_000 }, 16, {}, 10_000, null],
    [
      'less than asked where memory is short',
      { n_ctx: 32_768 },
      9.5,
      { sizeBytes: 7 * GB },
      (size) => size < 32_768 && size >= 512,
      /exceeds computed maximum/,
    ],
    ['512 where nothing fits', {}, 8, { sizeBytes: 8 * GB }, 512, /exceeds computed maximum/],
    ['the trained context otherwise', {}, 16, {}, 32_768, null],
    ['a known family without metadata', {}, 16, { contextLength: 0, path: '/c/Qwen2.5-Coder-1.5B-Q4.gguf' }, 32_768, null],
    ['the computed maximum without metadata', {}, 16, { contextLength: 0 }, 131_072, null],
    ['a small one that is asked for', { n_ctx: 128 }, 16, {}, 128, null],
    ['a small one that the model was trained with', {}, 16, { contextLength: 256 }, 256, null],
    ['a small one beside many sequences', { n_ctx: 16, n_slots: 64 }, 16, {}, 16, null],
    ['the least that the engine takes', { n_ctx: 3 }, 16, {}, 8, /3 tokens, is below the smallest, 8; 8 is used/],
    ['more than trained with a note', { n_ctx: 65_536 }, 16, {}, 65_536, /trained on/],
  ];
  for (const [name, options, free, model, wanted, note] of contexts) {
    it(`context: ${name}`, () => {
      const { contextSize, notes } = plan(options, free, model);
      if (typeof wanted === 'function') assert.ok(wanted(contextSize), String(contextSize));
      else assert.equal(contextSize, wanted);
      if (note) assert.match(notes.join(), note);
      else assert.deepEqual(notes, []);
    });
  }

  it('shrinks the batch below 3000 MB, and only then', () => {
    assert.equal(plan({}, 16).batch, 2048);
    const low = plan({ n_ctx: 2048 }, 2.9, { sizeBytes: GB / 4 });
    assert.equal(low.batch, 512);
    assert.match(low.notes.join(), /n_batch is 512/);
    assert.equal(plan({ n_ctx: 2048, n_batch: 256 }, 2.9, { sizeBytes: GB / 4 }).batch, 256);
  });

  it('never takes a batch smaller than the sequences', () => {
    const { batch, slots } = plan({ n_batch: 4 }, 16);
    assert.ok(batch >= slots);
  });

  it('gives each sequence a buffer where that fits, and one for all otherwise', () => {
    const small = plan({ n_ctx: 512 }, 16, { headsKvTotal: 2, keyLength: 32, valueLength: 32, sizeBytes: 1e6 });
    assert.deepEqual([small.slots, small.unifiedKv, small.kvCells], [32, false, 32 * 512]);
    const fewer = plan({ n_ctx: 2048 }, 16, { headsKvTotal: 24, keyLength: 64, valueLength: 64, sizeBytes: 2e7 });
    assert.ok(!fewer.unifiedKv && fewer.slots >= 16 && fewer.slots < 32, JSON.stringify(fewer));
    assert.equal(fewer.kvCells, fewer.slots * 2048);
    const long = plan({}, 16);
    assert.deepEqual([long.slots, long.unifiedKv], [32, true]);
    assert.ok(long.kvCells >= long.contextSize && long.kvCells < 32 * long.contextSize);
    const asked = plan({ n_slots: 4, n_ctx: 4096 }, 16);
    assert.deepEqual([asked.slots, asked.unifiedKv], [4, false]);
    const split = plan({ n_slots: 64, kv_unified: false }, 16);
    assert.ok(!split.unifiedKv && split.slots >= 1 && split.memoryBytes <= 0.8 * 16 * GB);
    assert.ok(plan({ kv_unified: true, n_ctx: 512, n_slots: 2 }, 16).unifiedKv);
  });

  it('stays inside the memory that it was told of', () => {
    for (const free of [2, 4, 8, 16, 64]) {
      for (const n_slots of [undefined, 1, 8, 64]) {
        const { memoryBytes, contextSize } = plan(n_slots === undefined ? {} : { n_slots }, free);
        assert.ok(memoryBytes <= free * GB * 0.8 || contextSize === 512, `${free} GB, ${n_slots} slots: ${memoryBytes}`);
      }
    }
  });

  it('acts on every option', () => {
    const made = plan(
      { n_ubatch: 128, n_gpu_layers: 7, n_threads: 3, flash_attn: false, use_mmap: false, use_mlock: true, cache_type_k: 'Q8_0' },
      16,
    );
    assert.deepEqual(
      [made.ubatch, made.gpuLayers, made.threads, made.flashAttention, made.mmap, made.mlock, made.cacheTypeK, made.cacheTypeV],
      [128, 7, 3, false, false, true, 'q8_0', 'f16'],
    );
  });

  const refusals: [string, LanguageOptions, Partial<PlannedModel>, RegExp][] = [
    [
      'quantised values without flash attention',
      { flash_attn: false, cache_type_v: 'q8_0' },
      {},
      /cache_type_v is q8_0; it needs flash attention/,
    ],
    [
      'quantised keys with an odd head size',
      { cache_type_k: 'q4_0' },
      { keyLength: 80 },
      /cache_type_k is q4_0; it needs a head size that is a multiple of 32.*80/,
    ],
    ['quantised values with an odd head size', { cache_type_v: 'q4_0' }, { valueLength: 80 }, /cache_type_v .* multiple of 32/],
  ];
  for (const [name, options, model, message] of refusals) {
    it(`refuses ${name}`, () => assert.throws(() => plan(options, 16, model), { kind: 'invalid', message }));
  }

  it('notes an unknown cache type and uses the default', () => {
    const made = plan({ cache_type_k: 'q3_x' }, 16);
    assert.equal(made.cacheTypeK, 'f16');
    assert.match(made.notes.join(), /cache_type_k "q3_x" is not known/);
  });
});
