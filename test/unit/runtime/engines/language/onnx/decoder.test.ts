import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Decoder } from '../../../../../../runtime/engines/language/onnx/decoder.js';
import { isCuttable } from '../../../../../../runtime/engines/language/onnx/past-states.js';
import type { OnnxSession, Tensor, TensorSlot } from '../../../../../../runtime/engines/onnx/contract.js';

const slot = (name: string, dims: TensorSlot['dims'], type: TensorSlot['type'] = 'int64'): TensorSlot => ({ name, type, dims });
const PAST = ['key', 'value'].map((kind) => slot(`past_key_values.0.${kind}`, ['batch', 1, 'past', 1], 'float32'));
const TOKENS = slot('input_ids', ['batch', 'length']);

const OUTPUTS = [slot('logits', ['batch', 'length', 9], 'float32'), slot('present_conv.1', ['batch', 2, 3], 'float32')];
const decoderOf = (inputs: TensorSlot[], run?: OnnxSession['run']): Decoder =>
  new Decoder({ inputs, outputs: OUTPUTS, run } as unknown as OnnxSession, { heads: 1, headSize: 1, vocabularySize: 9 });
const STATE = slot('past_conv.1', ['batch', 2, 3], 'float32');

const graphs: [name: string, inputs: TensorSlot[], first: number, later: number, resumes: boolean][] = [
  ['one that keeps what it saw reads in pieces', [TOKENS, ...PAST], 128, 128, true],
  [
    'one of two branches reads much at first, then token by token',
    [TOKENS, slot('use_cache_branch', [1], 'bool'), ...PAST],
    1024,
    1,
    false,
  ],
  ['one for a single token reads no more', [slot('input_ids', ['batch', 1]), ...PAST], 1, 1, true],
  ['one with states reads much at first, then token by token', [TOKENS, ...PAST, STATE], 1024, 1, false],
  ['one with states for a single token reads no more', [slot('input_ids', ['batch', 1]), STATE], 1, 1, true],
  ['one that keeps nothing reads all', [TOKENS], Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, false],
];
for (const [name, inputs, first, later, resumes] of graphs)
  it(`of graphs, ${name}`, () => {
    const decoder = decoderOf(inputs);
    const { nothing } = decoder;
    assert.deepEqual([decoder.most(nothing), decoder.most({ ...nothing, length: 5 }), decoder.resumes], [first, later, resumes]);
  });

/** A graph whose logits are those of the last three tokens it knows of; with several at once, it knows `kept` of what was before. */
function graphOf(kept: (count: number) => number, noise: (count: number) => number = () => 0, weight = 1): OnnxSession['run'] {
  const float = (dims: number[], data: Float32Array): Tensor => ({ type: 'float32', dims, data });
  return async ({ input_ids: ids, 'past_conv.1': state }) => {
    const read = Array.from(ids!.data, Number);
    const before = Array.from(state!.data.slice(0, 3), Number).map((value, at) => (at < 3 - kept(read.length) ? 0 : value));
    const last = [...before, ...read].slice(-3);
    const row = Float32Array.from({ length: 9 }, (_, token) =>
      Math.sin(token * (weight * last[0]! + 3 * last[1]! + 7 * last[2]! + noise(read.length))),
    );
    const rows = Float32Array.from({ length: 9 * read.length }, (_, at) => row[at % 9]!);
    return { logits: float([1, read.length, 9], rows), 'present_conv.1': float([1, 2, 3], Float32Array.from([...last, ...last])) };
  };
}
const refuses: OnnxSession['run'] = async (feeds) => {
  if (feeds.input_ids!.data.length > 1 && feeds['past_conv.1']!.data[2] !== 0) throw new Error('no');
  return graphOf(() => 3)(feeds);
};
const SAMPLE = Int32Array.of(5, 3, 8, 1, 4, 7, 2, 6, 5, 1);
const tries: [name: string, run: OnnxSession['run'], sample: Int32Array, most: number][] = [
  ['pieces that come out as single tokens do', graphOf(() => 3), SAMPLE, 128],
  ['pieces read as the beginning of a text', graphOf((count) => (count > 1 ? 0 : 3)), SAMPLE, 1],
  ['pieces that are refused', refuses, SAMPLE, 1],
  [
    'pieces as coarse as single tokens',
    graphOf(
      () => 3,
      (count) => 0.002 * count,
    ),
    SAMPLE,
    128,
  ],
  [
    'pieces that forget what hardly counts',
    graphOf(
      (count) => (count > 1 ? 0 : 3),
      () => 0,
      0.005,
    ),
    SAMPLE,
    1,
  ],
  ['a sample that is too short to tell', graphOf(() => 3), SAMPLE.slice(0, 8), 1],
];
for (const [name, run, sample, most] of tries)
  it(`tries ${name}`, async () => {
    const decoder = decoderOf([TOKENS, STATE], run);
    await decoder.tryPieces(sample);
    assert.deepEqual([decoder.most({ ...decoder.nothing, length: 5 }), decoder.resumes], [most, most > 1]);
  });

it('begins with states of zeros and takes them from the outputs that belong to them', async () => {
  const names = [
    'past_conv.1',
    'past_ssm.1',
    'past_recurrent.2',
    'past_conv.2.query',
    'past.4.conv',
    'past.4.recurrent',
    'past_key_values.5.conv_state',
  ];
  const outputs = [
    OUTPUTS[0]!,
    ...names.map((name) => slot(name.replace('past_key_values', 'present').replace('past', 'present'), [], 'float16')),
  ];
  const run: OnnxSession['run'] = async () => ({
    logits: { type: 'float32', dims: [1, 1, 9], data: new Float32Array(9) },
    ...Object.fromEntries(outputs.slice(1).map(({ name }, at) => [name, { type: 'float16', dims: [1, 2], data: Uint16Array.of(at, at) }])),
  });
  const inputs = [TOKENS, ...names.map((name) => slot(name, ['batch', 2], 'float16'))];
  const decoder = new Decoder({ inputs, outputs, run } as unknown as OnnxSession, { heads: 1, headSize: 1, vocabularySize: 9 });
  const { nothing } = decoder;
  for (const name of names) assert.deepEqual(nothing.tensors[name], { type: 'float16', dims: [1, 2], data: new Uint16Array(2) });
  const { past } = await decoder.read(Int32Array.of(1), nothing);
  assert.deepEqual(
    names.map((name) => past.tensors[name]!.data[0]),
    [0, 1, 2, 3, 4, 5, 6],
  );
});

it('begins with no keys and values, in whatever order a graph has them', () => {
  const sizes = (name: string, dims: TensorSlot['dims']): unknown => {
    const inputs = [TOKENS, slot(name, dims, 'float32')];
    const { nothing } = new Decoder({ inputs, outputs: OUTPUTS } as unknown as OnnxSession, { heads: 4, headSize: 8, vocabularySize: 9 });
    return [nothing.tensors[name]!.dims, isCuttable(nothing)];
  };
  assert.deepEqual(sizes('past_key_values.3.key', ['batch', 'heads', 'past', 'size']), [[1, 4, 0, 8], true]);
  assert.deepEqual(sizes('past_key_values.3.key', [1, 2, 'past', 16]), [[1, 2, 0, 16], true]);
  assert.deepEqual(sizes('past_key_values.3.key', ['batch x num_heads', 8, 'past']), [[4, 8, 0], false]);
  assert.deepEqual(sizes('past_key_values.3.value', ['batch x num_heads', 'past', 8]), [[4, 0, 8], false]);
  assert.deepEqual(sizes('past_key_values.3.key_value', ['batch', 'past', 16]), [[1, 0, 16], false]);
});

const places: [name: string, input: TensorSlot, sizes: number[], values: number[]][] = [
  ['in one row', slot('position_ids', ['batch', 'length']), [1, 2], [1, 2]],
  ['in time, height and width', slot('position_ids', [3, 'batch', 'length']), [3, 1, 2], [1, 2, 1, 2, 1, 2]],
  ['in the cache', slot('cache_position', ['length']), [2], [1, 2]],
];
for (const [name, input, sizes, values] of places)
  it(`says where tokens lie ${name}`, async () => {
    let fed: Tensor | undefined;
    const decoder = decoderOf([TOKENS, input, STATE], (feeds) => {
      fed = feeds[input.name];
      return graphOf(() => 3)(feeds);
    });
    const { past } = await decoder.read(Int32Array.of(1), decoder.nothing);
    await decoder.read(Int32Array.of(2, 3), past);
    assert.deepEqual([fed?.dims, [...fed!.data].map(Number)], [sizes, values]);
  });

const refused: [name: string, inputs: TensorSlot[], why: RegExp][] = [
  ['a state without an output', [slot('past_ssm.0', ['batch', 2], 'float32')], /past_ssm\.0 .* present_ssm\.0/],
  ['a state that grows', [slot('past_conv.1', ['batch', 2, 'past'], 'float32')], /how large past_conv\.1 is/],
  ['an absurd state', [slot('past_conv.1', ['batch', 2 ** 20, 2 ** 20], 'float32')], /past_conv\.1 is \[1, 1048576, 1048576\], too large/],
  ['states of whole numbers', [slot('past_conv.1', ['batch', 2, 3], 'int8')], /past_conv\.1 is of int8/],
  [
    'keys of more sizes',
    [slot('past_key_values.0.key', [2, 'batch', 1, 'past', 8], 'float32')],
    /past_key_values\.0\.key is \[2, batch, 1, past, 8\]/,
  ],
  [
    'keys of unknown sizes',
    [slot('past_key_values.0.key', ['batch', 'size', 'past'], 'float32')],
    /past_key_values\.0\.key is \[batch, size, past\]/,
  ],
  ['a past of another name', [slot('past_key_values.0', ['batch', 'past', 8], 'float32')], /past_key_values\.0, /],
  ['positions in unknown directions', [slot('position_ids', ['kinds', 'batch', 'length'])], /position_ids is \[kinds, batch, length\]/],
  ['no tokens', [slot('inputs_embeds', ['batch', 'length', 8], 'float32')], /inputs_embeds/],
];
for (const [name, inputs, why] of refused) it(`refuses ${name} by name`, () => assert.throws(() => decoderOf([TOKENS, ...inputs]), why));
