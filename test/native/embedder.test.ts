import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { NativeEmbedder, NativeEmbedderOptions } from '../../native/contract.js';
import { backendFolders, loadInference } from '../../native/loader.js';
import { tinyPath } from '../support/models/cache.js';
import { TINY_SHAPE, writeGgufEncoder } from '../support/models/tiny-encoders.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-embedder-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const OPTIONS: NativeEmbedderOptions = { contextSize: 512, threads: 1, flashAttention: true, ranks: false };
const TEXTS = ['the cat sat on the mat', 'a ship', 'tea', 'who planted the red rose tree in the garden by the river'];

function open(path: string, options: Partial<NativeEmbedderOptions> = {}): Promise<NativeEmbedder> {
  const addon = loadInference();
  addon.loadBackends(backendFolders());
  return addon.openEmbedder(path, { gpuLayers: 0, mmap: true, mlock: false }, { ...OPTIONS, ...options });
}

function written(name: string, ...options: Parameters<typeof writeGgufEncoder> extends [string, ...infer Rest] ? Rest : never): string {
  const path = join(folder, `${name}.gguf`);
  writeGgufEncoder(path, ...options);
  return path;
}

async function embedded(model: NativeEmbedder, texts: readonly string[]): Promise<Float32Array[]> {
  const tokens = texts.map((text) => model.tokenize(text));
  const flat = Int32Array.from(tokens.flatMap((one) => [...one]));
  const lengths = Int32Array.from(tokens, ({ length }) => length);
  const vectors = await model.embed(flat, lengths);
  return texts.map((_text, at) => vectors.subarray(at * model.dimensions, (at + 1) * model.dimensions));
}

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0);

describe('the embedder', () => {
  it('tells what it is', async () => {
    const model = await open(written('mean', { pooling: 'mean' }));
    assert.deepEqual([model.dimensions, model.contextSize, model.pooling, model.poolingKnown], [64, TINY_SHAPE.positions, 'mean', true]);
    assert.equal(model.info.architecture, 'bert');
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(model)).filter((name) => name !== 'constructor');
    assert.deepEqual(methods.sort(), ['close', 'embed', 'tokenize']);
    await model.close();
    assert.throws(() => model.tokenize('x'), { kind: 'unavailable' });
    await assert.rejects(model.embed(Int32Array.of(1), Int32Array.of(1)), { kind: 'unavailable' });
    await model.close();
  });

  it('makes the same vector of a text alone and among others', async () => {
    const model = await open(written('mean', { pooling: 'mean' }));
    const together = await embedded(model, TEXTS);
    for (const [at, text] of TEXTS.entries()) {
      const [alone] = await embedded(model, [text]);
      assert.ok(cosine(alone!, together[at]!) > 0.9999, `${text}: ${cosine(alone!, together[at]!)}`);
      assert.ok(Math.abs(cosine(alone!, alone!) - 1) < 1e-5);
    }
    // More sequences, and more tokens, than one batch takes.
    const many = await embedded(
      model,
      Array.from({ length: 300 }, (_none, at) => TEXTS[at % TEXTS.length]!),
    );
    for (const [at, vector] of many.entries()) assert.ok(cosine(vector, together[at % TEXTS.length]!) > 0.9999, `text ${at}`);
    await model.close();
  });

  it('pools as the file says, and by the kind of attention where it does not say', async () => {
    const [mean, cls, none] = await Promise.all([
      open(written('mean', { pooling: 'mean' })),
      open(written('cls', { pooling: 'cls' })),
      open(written('none')),
    ]);
    assert.deepEqual([cls.pooling, cls.poolingKnown, none.pooling, none.poolingKnown], ['cls', true, 'mean', false]);
    const vectors = await Promise.all([mean, cls, none].map(async (model) => (await embedded(model, TEXTS.slice(0, 1)))[0]!));
    assert.ok(cosine(vectors[0]!, vectors[1]!) < 0.99);
    assert.ok(cosine(vectors[0]!, vectors[2]!) > 0.9999);
    await Promise.all([mean, cls, none].map((model) => model.close()));
    const causal = await open(tinyPath());
    assert.deepEqual([causal.pooling, causal.poolingKnown], ['last', false]);
    const [one, same, other] = await embedded(causal, ['tea', 'tea', 'sun']);
    assert.ok(cosine(one!, same!) > 0.999 && cosine(one!, other!) < 0.999);
    await causal.close();
  });

  it('reads quantised weights', async () => {
    const [whole, packed] = await Promise.all([
      open(written('mean', { pooling: 'mean' })),
      open(written('q8', { pooling: 'mean', type: 'Q8_0' })),
    ]);
    const [a, b] = await Promise.all([whole, packed].map((model) => embedded(model, TEXTS)));
    for (const [at, vector] of a!.entries()) assert.ok(cosine(vector, b![at]!) > 0.999);
    await Promise.all([whole.close(), packed.close()]);
  });

  it('grows with the longest text', async () => {
    const model = await open(written('long', { pooling: 'mean', positions: 2048 }), { contextSize: 2048 });
    const before = await embedded(model, TEXTS);
    const long = 'the cat sat on the mat '.repeat(300).trim();
    const [first, second] = await embedded(model, [long, long]);
    assert.equal(model.tokenize(long).length, 1802);
    const odd = await open(written('odd', { pooling: 'mean', positions: 99 }), { contextSize: 99 });
    assert.equal((await embedded(odd, TEXTS)).length, TEXTS.length);
    await odd.close();
    assert.ok(cosine(first!, second!) > 0.9999 && cosine(first!, before[0]!) > 0.5);
    const after = await embedded(model, TEXTS);
    for (const [at, vector] of after.entries()) assert.ok(cosine(vector, before[at]!) > 0.9999);
    await model.close();
  });

  it('refuses models and arguments that cannot work', async () => {
    await assert.rejects(open(written('rank', { pooling: 'rank' })), { kind: 'invalid', message: /ranks pairs/ });
    await assert.rejects(open(join(folder, 'absent.gguf')), { kind: 'not_found' });
    await assert.rejects(open(tinyPath(), { contextSize: 0 }), { kind: 'invalid', message: /contextSize is 0/ });
    await assert.rejects(open(tinyPath(), { threads: -1 }), { kind: 'invalid', message: /threads is -1/ });
    const model = await open(written('mean', { pooling: 'mean' }));
    const bad: [tokens: number[], lengths: number[], message: RegExp][] = [
      [[1, 2], [0, 2], /length of a text in tokens is 0/],
      [[1, 2], [-1, 3], /is -1/],
      [Array(129).fill(1), [129], /is 129; allowed are 1 to 128/],
      [[1, 2], [1], /2 tokens, and the lengths add up to 1/],
      [[1, 2], [2 ** 31 - 1, 1], /allowed are 1 to 128/],
      [[-1], [1], /tokens holds one/],
      [[1_000_000], [1], /tokens holds one/],
    ];
    for (const [tokens, lengths, message] of bad)
      await assert.rejects(model.embed(Int32Array.from(tokens), Int32Array.from(lengths)), { kind: 'invalid', message });
    await assert.rejects(async () => model.embed([1] as never, Int32Array.of(1)), { kind: 'invalid', message: /an Int32Array/ });
    assert.equal((await model.embed(new Int32Array(0), new Int32Array(0))).length, 0);
    await model.close();
  });

  it('can be closed while it works', async () => {
    const model = await open(written('mean', { pooling: 'mean' }));
    const tokens = Int32Array.from({ length: 128 * 200 }, (_none, at) => 10 + (at % 50));
    const working = [1, 2, 3].map(() => model.embed(tokens, new Int32Array(200).fill(128)).catch(({ kind }) => kind));
    await model.close();
    for (const outcome of await Promise.all(working)) assert.ok(outcome === 'unavailable' || outcome instanceof Float32Array);
  });
});
