import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EncoderClient } from '../../runtime/engines/encoders/onnx/client.js';
import { CircuitBreaker } from '../../runtime/hosts/circuit-breaker.js';
import { Failure } from '../../schemas/errors.js';
import { type TinyEncoder, writeTinyEncoder } from '../support/models/tiny-encoders/tiny-encoders.js';
import { HIDDEN } from '../support/models/tiny-encoders/weights.js';

const OUTPUTS = 3;
const SIGNAL = new AbortController().signal;
const MODULES = [
  { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
  { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
  { idx: 2, name: '2', path: '2_Dense', type: 'sentence_transformers.models.Dense' },
];
const TEXTS = ['red dog in the river', 'milk'];

/** A safetensors file with a header as given, and then `floats` numbers. */
function safetensors(header: unknown, values: Float32Array = new Float32Array()): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.from(values.buffer)]);
}

/** The layer that keeps the first components of a vector. */
const KEPT = Float32Array.from({ length: OUTPUTS * HIDDEN }, (_, at) => (Math.floor(at / HIDDEN) === at % HIDDEN ? 1 : 0));
const WEIGHT = { dtype: 'F32', shape: [OUTPUTS, HIDDEN], data_offsets: [0, 4 * OUTPUTS * HIDDEN] };
const CONFIG = { in_features: HIDDEN, out_features: OUTPUTS, bias: false, activation_function: 'torch.nn.modules.linear.Identity' };

let folder = '';
let made = 0;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'quern-dense-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The weights of a layer that takes vectors of this width. */
const taking = (width: number): Buffer =>
  safetensors(
    { 'linear.weight': { dtype: 'F32', shape: [OUTPUTS, width], data_offsets: [0, 4 * OUTPUTS * width] } },
    new Float32Array(OUTPUTS * width),
  );

/** Puts a second layer, of vectors of this width, behind the first. */
function follow(layer: string, width: number): void {
  const next = join(layer, '../3_Dense');
  mkdirSync(next);
  writeFileSync(join(layer, '../modules.json'), JSON.stringify([...MODULES, { ...MODULES[2], idx: 3, name: '3', path: '3_Dense' }]));
  writeFileSync(join(next, 'config.json'), JSON.stringify(CONFIG));
  writeFileSync(join(next, 'model.safetensors'), taking(width));
}

/** A sentence model with a dense layer; `harm` may damage the layer's folder. */
function written(encoder: TinyEncoder, harm: (layer: string) => void = () => {}): string {
  const place = join(folder, `model-${made++}`);
  writeTinyEncoder(place, { pooling: 'pooling_mode_mean_tokens', ...encoder });
  writeFileSync(join(place, 'modules.json'), JSON.stringify(MODULES));
  const layer = join(place, '2_Dense');
  mkdirSync(layer);
  writeFileSync(join(layer, 'config.json'), JSON.stringify(CONFIG));
  writeFileSync(join(layer, 'model.safetensors'), safetensors({ 'linear.weight': WEIGHT }, KEPT));
  harm(layer);
  return place;
}

const load = (place: string): Promise<EncoderClient> =>
  EncoderClient.load(
    {
      task: 'embedding',
      files: { name: 'tiny/dense', format: 'onnx', model: join(place, 'onnx/model.onnx'), folder: place, notes: [] },
      options: { threads: 1, device: 'cpu' },
      circuit: new CircuitBreaker('tiny/dense'),
    },
    SIGNAL,
  );

async function embedded(place: string): Promise<{ dimensions: number | null; vectors: readonly Float32Array[] }> {
  const client = await load(place);
  try {
    return { dimensions: client.info.dimensions, vectors: (await client.embed(TEXTS, { signal: SIGNAL })).vectors };
  } finally {
    await client.close();
  }
}
/** The layer's `model.safetensors` with KEPT as its matrix, or of these tensors, each [shape, numbers]. */
function weigh(layer: string, tensors: Readonly<Record<string, readonly [number[], Float32Array]>>): void {
  const all = Object.entries({ 'linear.weight': [[OUTPUTS, HIDDEN], KEPT] as const, ...tensors });
  let end = 0;
  const header = all.map(([name, [shape, { byteLength }]]) => {
    end += byteLength;
    return [name, { dtype: 'F32', shape, data_offsets: [end - byteLength, end] }];
  });
  const values = Float32Array.from(all.flatMap(([, [, numbers]]) => [...numbers]));
  writeFileSync(join(layer, 'model.safetensors'), safetensors(Object.fromEntries(header), values));
}
const normal = (vector: Float32Array): Float32Array => vector.map((value) => value / Math.hypot(...vector));
const near = (one: Float32Array, other: Float32Array): void => {
  assert.equal(one.length, other.length);
  for (const [at, value] of one.entries()) assert.ok(Math.abs(value - other[at]!) < 1e-5, `${at}: ${value} and ${other[at]}`);
};

describe('dense layers of ONNX encoders', () => {
  it('follow pooling', async () => {
    const plain = written({ task: 'embedding' }, (layer) =>
      writeFileSync(join(layer, '../modules.json'), JSON.stringify(MODULES.slice(0, 2))),
    );
    const [whole, dense] = [await embedded(plain), await embedded(written({ task: 'embedding' }))];
    assert.deepEqual([whole.dimensions, dense.dimensions], [HIDDEN, OUTPUTS]);
    for (const [index, vector] of dense.vectors.entries()) {
      const head = whole.vectors[index]!.slice(0, OUTPUTS);
      near(
        vector,
        head.map((value) => value / Math.hypot(...head)),
      );
    }
  });

  const BIAS = Float32Array.of(0.5, -0.25, 1);
  const LAST = KEPT.slice().reverse();
  const WIDE = Float32Array.from({ length: HIDDEN }, (_, at) => at / HIDDEN);
  /** Each after a Normalize, so that the layer's input is what the model without it gives. */
  const after: [string, object, Parameters<typeof weigh>[1], (vector: Float32Array) => Float32Array][] = [
    ['a Normalize', {}, {}, (vector) => vector.slice(0, OUTPUTS)],
    ['a Normalize, with a bias', {}, { 'linear.bias': [[OUTPUTS], BIAS] }, (vector) => BIAS.map((bias, at) => bias + vector[at]!)],
    [
      'a Normalize, with Tanh',
      { activation_function: 'torch.nn.modules.activation.Tanh' },
      { 'linear.bias': [[OUTPUTS], BIAS] },
      (vector) => BIAS.map((bias, at) => Math.tanh(bias + vector[at]!)),
    ],
    [
      'what goes past through a matrix',
      { use_residual: true, activation_function: 'torch.nn.modules.activation.Tanh' },
      { 'residual.weight': [[OUTPUTS, HIDDEN], LAST] },
      (vector) => BIAS.map((_, at) => Math.tanh(vector[at]!) + vector[HIDDEN - OUTPUTS + at]!),
    ],
    [
      'what goes past',
      { use_residual: true },
      { 'linear.weight': [[HIDDEN, HIDDEN], new Float32Array(HIDDEN ** 2)], 'linear.bias': [[HIDDEN], WIDE] },
      (vector) => vector.map((value, at) => value + WIDE[at]!),
    ],
  ];
  for (const [name, config, tensors, expected] of after)
    it(`follow ${name}`, async () => {
      const normalize = { idx: 2, name: '2', path: '2_Normalize', type: 'sentence_transformers.models.Normalize' };
      const list = (layer: string, modules: object[]): void => writeFileSync(join(layer, '../modules.json'), JSON.stringify(modules));
      const plain = await embedded(written({ task: 'embedding' }, (layer) => list(layer, MODULES.slice(0, 2))));
      const dense = await embedded(
        written({ task: 'embedding' }, (layer) => {
          list(layer, [...MODULES.slice(0, 2), normalize, MODULES[2]!]);
          writeFileSync(join(layer, 'config.json'), JSON.stringify({ ...CONFIG, ...config }));
          weigh(layer, tensors);
        }),
      );
      for (const [index, vector] of dense.vectors.entries()) near(vector, normal(expected(plain.vectors[index]!)));
    });

  it('take the mean by the root of the number of tokens where Tanh shows it', async () => {
    const tanh = (pooling: string): string =>
      written({ task: 'embedding', pooling }, (layer) => writeFileSync(join(layer, 'config.json'), '{}'));
    const [mean, root] = [await embedded(tanh('pooling_mode_mean_tokens')), await embedded(tanh('pooling_mode_mean_sqrt_len_tokens'))];
    const cosine = mean.vectors[0]!.reduce((sum, value, at) => sum + value * root.vectors[0]![at]!, 0);
    assert.ok(cosine < 0.9999, `${cosine}`);
  });

  it('are not for the vectors of a graph that pools by itself', async () => {
    const pooled = await embedded(written({ task: 'embedding' }, (layer) => rmSync(join(layer, '../modules.json'))));
    const own = await embedded(written({ task: 'embedding', sentenceOutput: true }));
    assert.equal(own.dimensions, HIDDEN);
    for (const [index, vector] of own.vectors.entries()) near(vector, pooled.vectors[index]!);
    const odd = (layer: string): void => writeFileSync(join(layer, '../modules.json'), '[{"path": "2_LayerNorm", "type": "m.LayerNorm"}]');
    const others = await embedded(written({ task: 'embedding', sentenceOutput: true }, odd));
    for (const [index, vector] of others.vectors.entries()) near(vector, own.vectors[index]!);
    const without = await embedded(written({ task: 'embedding', sentenceOutput: true }, (layer) => rmSync(layer, { recursive: true })));
    for (const [index, vector] of without.vectors.entries()) near(vector, own.vectors[index]!);
  });

  const weights = (header: unknown) => (layer: string) => writeFileSync(join(layer, 'model.safetensors'), safetensors(header, KEPT));
  const entry = (harm: object) => weights({ 'linear.weight': { ...WEIGHT, ...harm } });
  const broken: [string, (layer: string) => void, RegExp][] = [
    ['no settings', (layer) => rmSync(join(layer, 'config.json')), /2_Dense\/config\.json of .* is missing/],
    ['no folder', (layer) => rmSync(layer, { recursive: true }), /2_Dense\/config\.json of .* is missing/],
    ['settings that are no JSON', (layer) => writeFileSync(join(layer, 'config.json'), '{'), /2_Dense\/config\.json of .* is not JSON/],
    [
      'an unknown activation',
      (layer) => writeFileSync(join(layer, 'config.json'), '{"activation_function": "a.constructor"}'),
      /2_Dense\/config\.json of .* has the activation constructor/,
    ],
    ['no weights', (layer) => rmSync(join(layer, 'model.safetensors')), /2_Dense\/model\.safetensors of .* is missing/],
    [
      'a folder for weights',
      (layer) => {
        rmSync(join(layer, 'model.safetensors'));
        mkdirSync(join(layer, 'model.safetensors'));
      },
      /2_Dense\/model\.safetensors of .* cannot be read/,
    ],
    [
      'weights that are cut off',
      (layer) => writeFileSync(join(layer, 'model.safetensors'), 'abc'),
      /2_Dense\/model\.safetensors of .* has a header that is longer/,
    ],
    ['a header that is no object', weights(null), /2_Dense\/model\.safetensors .*header/],
    ['a tensor without a shape', entry({ shape: undefined }), /2_Dense\/model\.safetensors .*linear\.weight/],
    ['a tensor without a place', entry({ data_offsets: undefined }), /2_Dense\/model\.safetensors .*linear\.weight/],
    ['a tensor that is a number', weights({ 'linear.weight': 1 }), /2_Dense\/model\.safetensors .*linear\.weight/],
    ['a tensor before the file', entry({ data_offsets: [-4, 4 * OUTPUTS * HIDDEN - 4] }), /2_Dense\/model\.safetensors .*linear\.weight/],
    ['a tensor beyond the file', entry({ data_offsets: [4, 4 * OUTPUTS * HIDDEN + 4] }), /2_Dense\/model\.safetensors .*linear\.weight/],
    ['a half matrix', entry({ shape: [OUTPUTS * HIDDEN] }), /2_Dense\/model\.safetensors of .* has no matrix linear\.weight/],
    [
      'an input of another width',
      (layer) => writeFileSync(join(layer, 'model.safetensors'), taking(HIDDEN + 1)),
      new RegExp(`2_Dense/model\\.safetensors of .* takes vectors of ${HIDDEN + 1} dimensions, .* have ${HIDDEN}\\.`),
    ],
    [
      'an input of another width behind a layer',
      (layer) => follow(layer, HIDDEN),
      new RegExp(`3_Dense/model\\.safetensors of .* takes vectors of ${HIDDEN} dimensions, .* have ${OUTPUTS}\\.`),
    ],
    [
      'nothing to bring what goes past to its width',
      (layer) => writeFileSync(join(layer, 'config.json'), JSON.stringify({ ...CONFIG, use_residual: true })),
      new RegExp(`2_Dense/model\\.safetensors of .* has no matrix residual\\.weight of ${OUTPUTS} times ${HIDDEN}`),
    ],
    [
      'a LayerNorm before them',
      (layer) =>
        writeFileSync(
          join(layer, '../modules.json'),
          JSON.stringify([...MODULES.slice(0, 2), { path: '2_LayerNorm', type: 'sentence_transformers.models.LayerNorm' }, MODULES[2]]),
        ),
      /modules\.json of .* has the module LayerNorm \("2_LayerNorm"\) after Pooling/,
    ],
    ['numbers of another kind', entry({ dtype: 'F16' }), /2_Dense\/model\.safetensors of .* has linear\.weight as F16/],
  ];
  for (const [name, harm, message] of broken)
    it(`are refused with ${name}`, async () => {
      const failure = await load(written({ task: 'embedding' }, harm)).then(
        async (client) => {
          await client.close();
          assert.fail('it was loaded');
        },
        (error: unknown) => error,
      );
      assert.ok(failure instanceof Failure, String(failure));
      assert.deepEqual([failure.status, failure.code], [422, 'InvalidModelFile'], failure.message);
      assert.match(failure.message, message);
      assert.ok(!failure.message.includes(folder), failure.message);
    });
});
