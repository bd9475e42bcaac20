import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Dense, EncoderShape, EncoderWeights, HeadStep, NativeEncoder, Norm } from '../../native/contract.js';
import { loadCore } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, `not a Failure: ${String(error)}`);
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

const SHAPE: EncoderShape = {
  width: 32,
  layers: 2,
  heads: 2,
  inner: 64,
  vocabulary: 40,
  positions: 600,
  types: 2,
  epsilon: 1e-5,
  activation: 'gelu',
  firstPosition: 0,
};

const floats = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_none, at) => Math.sin(at * 1.3 + seed) / 6);
const norm = (width: number): Norm => ({ weight: new Float32Array(width).fill(1), bias: floats(width, 9) });
const dense = (inputs: number, outputs: number, seed: number): Dense => ({
  inputs,
  outputs,
  weights: floats(inputs * outputs, seed),
  bias: floats(outputs, seed + 1),
});

/** The same product as bytes. */
function asBytes(from: Dense): Dense {
  const scale = 1 / 6 / 127;
  return {
    ...from,
    weights: Int8Array.from(from.weights as Float32Array, (value) => Math.round(value / scale)),
    scales: Float32Array.of(scale),
  };
}

function weights(head: HeadStep[] = [], made: (inputs: number, outputs: number, seed: number) => Dense = dense): EncoderWeights {
  const { width, inner, layers } = SHAPE;
  return {
    words: floats(SHAPE.vocabulary * width, 1),
    positions: floats(SHAPE.positions * width, 2),
    types: floats(SHAPE.types * width, 3),
    norm: norm(width),
    layers: Array.from({ length: layers }, (_none, at) => ({
      query: made(width, width, at + 10),
      key: made(width, width, at + 20),
      value: made(width, width, at + 30),
      output: made(width, width, at + 40),
      attentionNorm: norm(width),
      up: made(width, inner, at + 50),
      down: made(inner, width, at + 60),
      outputNorm: norm(width),
    })),
    head,
  };
}

const open = (shape: object = {}, given: object = weights(), options?: object): NativeEncoder =>
  loadCore().openEncoder({ ...SHAPE, ...shape }, given as EncoderWeights, options);

const IDS = Int32Array.of(1, 5, 9, 2, 7, 39, 0, 3);
const LENGTHS = Int32Array.of(3, 1, 4);

/** The largest difference. */
const apart = (a: Float32Array, b: Float32Array): number => a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at]!)), 0);

test('the core exports what the contract lists of encoders, and nothing else', () => {
  const encoder = open();
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(encoder)).filter((name) => name !== 'constructor');
  assert.deepEqual(methods.sort(), ['close', 'run', 'runNow']);
  assert.equal(encoder.outputs, SHAPE.width);
  assert.ok(encoder.bytes > 2 * 40 * 32 && encoder.bytes < 2 ** 20);
  encoder.close();
});

test('texts side by side give what each gives alone, and other segments give other numbers', async () => {
  const encoder = open();
  const together = await encoder.run(IDS, LENGTHS);
  assert.equal(together.length, IDS.length * SHAPE.width);
  assert.ok(together.every(Number.isFinite));
  let at = 0;
  for (const length of LENGTHS) {
    const alone = await encoder.run(IDS.subarray(at, at + length), Int32Array.of(length));
    const part = together.subarray(at * SHAPE.width, (at + length) * SHAPE.width);
    assert.ok(apart(alone, part) < 1e-5, 'another tiling rounds otherwise, no more');
    at += length;
  }
  assert.deepEqual(await encoder.run(IDS, LENGTHS, new Int32Array(IDS.length)), together);
  assert.ok(apart(await encoder.run(IDS, LENGTHS, new Int32Array(IDS.length).fill(1)), together) > 0.01);
  assert.deepEqual(await encoder.run(new Int32Array(), new Int32Array()), new Float32Array());
  assert.deepEqual(encoder.runNow(IDS, LENGTHS), together);
  encoder.close();
});

test('bytes, threads and heads: near to the floats, the same bits, the sizes that were asked for', async () => {
  const plain = open();
  const wanted = await plain.run(IDS, LENGTHS);
  const bytes = open(
    {},
    weights([], (...sizes) => asBytes(dense(...sizes))),
  );
  const difference = apart(await bytes.run(IDS, LENGTHS), wanted);
  assert.ok(difference > 0 && difference < 0.1, String(difference));
  const threaded = open({}, weights(), { threads: 3 });
  assert.deepEqual(await threaded.run(IDS, LENGTHS), wanted);
  const pooled = open({}, weights([{ take: 'first' }, { dense: dense(32, 5, 1), activation: 'tanh' }]));
  assert.equal(pooled.outputs, 5);
  assert.equal((await pooled.run(IDS, LENGTHS)).length, 5 * LENGTHS.length);
  const mean = open({}, weights([{ take: 'mean' }]));
  const means = await mean.run(IDS, LENGTHS);
  const sums = new Float32Array(SHAPE.width * LENGTHS.length);
  const texts = Array.from(LENGTHS).flatMap((length, text) => new Array<number>(length).fill(text));
  for (const [at, value] of wanted.entries()) {
    const text = texts[Math.floor(at / SHAPE.width)]!;
    sums[text * SHAPE.width + (at % SHAPE.width)]! += value / LENGTHS[text]!;
  }
  assert.ok(apart(means, sums) < 1e-5);
  for (const encoder of [plain, bytes, threaded, pooled, mean]) encoder.close();
});

test('shapes and weights that do not fit are refused by name', () => {
  const first = weights().layers[0]!;
  const layer = (change: object): object => ({ ...weights(), layers: [{ ...first, ...change }, first] });
  const up = asBytes(first.up);
  const cases: [object, object, string, RegExp][] = [
    [{ width: 0 }, {}, 'invalid', /width is 0; allowed is 1 to 8192/],
    [{ heads: 5 }, {}, 'invalid', /width is 32, which 5 heads cannot share/],
    [{ layers: 2 ** 31 }, {}, 'invalid', /layers must be an integer of 32 bits/],
    [{ layers: -1 }, {}, 'invalid', /layers is -1/],
    [{ epsilon: Number.NaN }, {}, 'invalid', /epsilon must be a finite number/],
    [{ activation: 'swish' }, {}, 'invalid', /activation is 'swish'; allowed are gelu, gelu_tanh, relu/],
    [{}, { words: [1] }, 'invalid', /words.weights must be/],
    [{}, { words: new Float32Array(7) }, 'invalid', /words has 7 numbers; 1280 belong/],
    [{}, { layers: {} }, 'invalid', /layers must be an array/],
    [{}, { layers: new Array(129).fill(first) }, 'too_large', /layers has 129 items; allowed are 128/],
    [{}, { layers: [first] }, 'invalid', /weights have 1 layers, the shape 2/],
    [{}, layer({ query: undefined }), 'invalid', /layers\[0\].query must be an object/],
    [{}, layer({ up: { ...first.up, outputs: 63 } }), 'invalid', /layers\[0\].up is \[32, 63\]/],
    [{}, layer({ up: { ...up, scales: new Float32Array(2) } }), 'invalid', /up.weights.scales has 2 numbers; 64 belong/],
    [{}, layer({ up: { ...up, scales: new Float32Array() } }), 'invalid', /scales is empty/],
    [{}, layer({ up: { ...up, zeroPoints: Int32Array.of(128) } }), 'invalid', /zeroPoints holds 128; allowed is -128 to 127/],
    [{}, layer({ up: { ...up, inputScale: new Float32Array(31) } }), 'invalid', /inputScale has 31 numbers/],
    [{}, { head: [{ take: 'last' }] }, 'invalid', /head\[0\].take is 'last'; allowed are first and mean/],
    [{}, { head: [{ take: 'first' }, { take: 'first' }] }, 'invalid', /takes tokens a second time/],
    [{}, { head: [{ dense: dense(31, 2, 1), activation: 'none' }] }, 'invalid', /head\[0\].dense is \[31, 2\]/],
    [{}, { head: [{ dense: dense(32, 2, 1), activation: 'x' }] }, 'invalid', /activation is 'x'/],
  ];
  for (const [shape, change, kind, text] of cases) assert.throws(() => open(shape, { ...weights(), ...change }), failure(kind, text));
  assert.throws(() => open({}, weights(), { threads: 65 }), failure('invalid', /threads is 65; allowed is 1 to 64/));
});

test('arrays that a getter takes away are refused', () => {
  const given = weights();
  const words = given.words as Float32Array<ArrayBuffer>;
  const taking = {
    ...given,
    get head() {
      structuredClone(words.buffer, { transfer: [words.buffer] });
      return [];
    },
  };
  assert.throws(() => open({}, taking), failure('invalid', /words was transferred while the weights were read/));
  const { layers } = weights();
  const late = {
    ...weights(),
    layers: [
      layers[0],
      {
        ...layers[1],
        get up() {
          const { weights: taken } = layers[0]!.down as { weights: Float32Array<ArrayBuffer> };
          structuredClone(taken.buffer, { transfer: [taken.buffer] });
          return layers[1]!.up;
        },
      },
    ],
  };
  assert.throws(() => open({}, late), failure('invalid', /layers\[0\].down.weights was transferred/));
});

test('texts that do not fit are refused, and the next ones run', async () => {
  const encoder = open();
  const run = (...values: unknown[]): Promise<unknown> =>
    (encoder as unknown as { run: (...all: unknown[]) => Promise<unknown> }).run(...values);
  const transferred = new Int32Array(8);
  structuredClone(transferred.buffer, { transfer: [transferred.buffer] });
  const cases: [unknown[], string, RegExp][] = [
    [[], 'invalid', /ids must be an Int32Array/],
    [[IDS, [8]], 'invalid', /lengths must be an Int32Array/],
    [[IDS, LENGTHS, 'x'], 'invalid', /types must be an Int32Array/],
    [[transferred, LENGTHS], 'invalid', /lengths add up to 8 tokens, ids has 0/],
    [[IDS.with(2, 40), LENGTHS], 'invalid', /ids holds 40; allowed is 0 to 39/],
    [[IDS, LENGTHS, IDS], 'invalid', /types holds 5; allowed is 0 to 1/],
    [[new Int32Array(2 ** 16 + 1), LENGTHS], 'too_large', /65537 numbers; allowed are 65536/],
  ];
  const runNow = (...values: unknown[]): unknown => (encoder as unknown as { runNow: (...all: unknown[]) => unknown }).runNow(...values);
  for (const [values, kind, text] of cases) {
    await assert.rejects(run(...values), failure(kind, text));
    assert.throws(() => runNow(...values), failure(kind, text));
  }
  assert.equal((await encoder.run(IDS, LENGTHS)).length, IDS.length * SHAPE.width);
  encoder.close();
});

const LONG = new Int32Array(2 ** 14);
const LONG_LENGTHS = new Int32Array(2 ** 14 / 512).fill(512);

test('close() lets the call that runs end, refuses those that wait and all that come', async () => {
  const encoder = open();
  const order: string[] = [];
  const running = encoder.run(LONG, LONG_LENGTHS).then(({ length }) => order.push(`ran ${length}`));
  assert.throws(() => encoder.runNow(IDS, LENGTHS), failure('busy', /runs a call on the pool/));
  const waiting = encoder.run(IDS, LENGTHS);
  encoder.close();
  encoder.close();
  await assert.rejects(waiting, failure('unavailable', /was closed/));
  await assert.rejects(encoder.run(IDS, LENGTHS), failure('unavailable', /is closed/));
  assert.throws(() => encoder.runNow(IDS, LENGTHS), failure('unavailable', /is closed/));
  await running;
  assert.deepEqual(order, [`ran ${LONG.length * SHAPE.width}`]);
});

test('calls run in order, and a bounded number waits', async () => {
  const encoder = open();
  const order: number[] = [];
  const calls = Array.from({ length: 5 }, (_none, at) => encoder.run(IDS, LENGTHS).then(() => order.push(at)));
  await Promise.all(calls);
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  const many = Array.from({ length: 1025 }, () => encoder.run(IDS, LENGTHS));
  await assert.rejects(encoder.run(IDS, LENGTHS), failure('busy', /1024 calls wait/));
  await Promise.all(many);
  encoder.close();
});

test('the process and a worker thread may end during a run', async () => {
  const source = `
    import { parentPort } from 'node:worker_threads';
    const { loadCore } = await import(${JSON.stringify(new URL('../../native/loader.js', import.meta.url).href)});
    const norm = { weight: new Float32Array(64), bias: new Float32Array(64) };
    const dense = { inputs: 64, outputs: 64, weights: new Float32Array(4096) };
    const layer = { query: dense, key: dense, value: dense, output: dense, up: dense, down: dense, attentionNorm: norm, outputNorm: norm };
    const shape = { width: 64, layers: 2, heads: 1, inner: 64, vocabulary: 1, positions: 512, types: 0, epsilon: 1e-5, activation: 'relu', firstPosition: 0 };
    const weights = { words: new Float32Array(64), positions: new Float32Array(64 * 512), norm, layers: new Array(2).fill(layer), head: [] };
    const encoder = loadCore().openEncoder(shape, weights, { threads: 2 });
    const lengths = new Int32Array(128).fill(512);
    encoder.run(new Int32Array(2 ** 16), lengths).catch(() => undefined);
    encoder.run(new Int32Array(2 ** 16), lengths).catch(() => undefined);
    if (parentPort) parentPort.postMessage('running'); else setImmediate(() => process.exit(7));`;
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.deepEqual({ status, signal, stderr }, { status: 7, signal: null, stderr: '' });
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
  await once(worker, 'message');
  assert.equal(await worker.terminate(), 1);
});
