import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EncoderOptions, EncoderTask } from '../../runtime/engines/contracts/encoder.js';
import { EncoderClient } from '../../runtime/engines/encoders/onnx/client.js';
import { CircuitBreaker } from '../../runtime/hosts/circuit-breaker.js';
import { Failure } from '../../schemas/errors.js';
import { TINY_SHAPE, type TinyEncoder, tinyWeights, writeEncoder } from '../support/models/tiny-encoders.js';
import { floats, integers, type OnnxGraph, type OnnxNode, writeOnnx } from '../support/models/writers/onnx-writer.js';

const NAME = 'bad/model';
const MEBIBYTE = 2 ** 20;
/** What this process may grow by, far below what the graphs make. */
const ROOM_MEBIBYTES = 300;
const { signal } = new AbortController();

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'quern-hostile-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A model in a folder of its own, after `harm` was done to its files. */
function written(encoder: TinyEncoder, harm: (place: string) => void = () => {}): string {
  const place = mkdtempSync(join(folder, 'model-'));
  writeEncoder(place, encoder);
  harm(place);
  return place;
}

const load = (place: string, task: EncoderTask, engine: EncoderOptions['engine']): Promise<EncoderClient> =>
  EncoderClient.load(
    {
      task,
      files: { name: NAME, format: 'onnx', model: join(place, 'onnx/model.onnx'), folder: place, notes: [] },
      options: { threads: 1, device: 'cpu', ...(engine ? { engine } : {}) },
      circuit: new CircuitBreaker(NAME),
    },
    signal,
  );

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  return error;
}

const node = (op: string, inputs: string[], output: string, attributes: OnnxNode['attributes'] = {}): OnnxNode => ({
  op,
  inputs,
  outputs: [output],
  attributes,
});
const INPUTS: OnnxGraph['inputs'] = [
  { name: 'input_ids', type: 'int64', dims: ['b', 's'] },
  { name: 'attention_mask', type: 'int64', dims: ['b', 's'] },
];
const output = (dims: OnnxGraph['outputs'][number]['dims']): OnnxGraph['outputs'] => [{ name: 'last_hidden_state', type: 'float32', dims }];
/** The ids as floats, [texts, tokens, 1]. */
const IDS = [node('Unsqueeze', ['input_ids', 'ax'], 'u'), node('Cast', ['u'], 'uf', { to: { int: 1 } })];

/** Some hundred bytes that make more numbers than a machine should hold. */
const BOMBS: Readonly<Record<string, OnnxGraph>> = {
  'vectors of a hundred million numbers': {
    nodes: [...IDS, node('Expand', ['uf', 'to'], 'last_hidden_state')],
    initializers: [integers('ax', [2]), integers('to', [1, 1, 100_000_000])],
    inputs: INPUTS,
    outputs: output(['b', 's', 'h']),
  },
  'vectors of a hundred thousand numbers': {
    nodes: [...IDS, node('Expand', ['uf', 'to'], 'last_hidden_state')],
    initializers: [integers('ax', [2]), integers('to', [1, 1, 100_000])],
    inputs: INPUTS,
    outputs: output(['b', 's', 'h']),
  },
  'a constant of eight gigabytes': {
    nodes: [
      ...IDS,
      node('ConstantOfShape', ['dims'], 'big'),
      node('ReduceMax', ['big'], 'most', { keepdims: { int: 0 } }),
      node('Add', ['uf', 'most'], 'last_hidden_state'),
    ],
    initializers: [integers('ax', [2]), integers('dims', [40_000, 50_000])],
    inputs: INPUTS,
    outputs: output(['b', 's', 1]),
  },
  'a table of eight gigabytes made of one token': {
    nodes: [...IDS, node('Expand', ['uf', 'to'], 'big'), node('ReduceSum', ['big', 'ax'], 'last_hidden_state', { keepdims: { int: 1 } })],
    initializers: [integers('ax', [2]), integers('to', [1, 1, 700_000_000]), floats('unused', [1], [0])],
    inputs: INPUTS,
    outputs: output(['b', 's', 1]),
  },
};

const bounded = process.platform === 'linux' ? {} : { skip: 'hosts are bounded on Linux only' };

describe('graphs that make absurd shapes', bounded, () => {
  for (const [what, graph] of Object.entries(BOMBS))
    it(`${what}: refused with the model's name, memory flat`, async () => {
      const place = written({ head: 'vectors' }, (at) => writeFileSync(join(at, 'onnx/model.onnx'), writeOnnx(graph)));
      const beforeBytes = process.memoryUsage().rss;
      const failure = await failureOf(load(place, 'embedding', 'auto'));
      assert.deepEqual([failure.status, failure.code], [422, 'InvalidModelFile'], failure.message);
      assert.match(failure.message, /bad\/model|model\.onnx/);
      assert.ok(process.memoryUsage().rss - beforeBytes < ROOM_MEBIBYTES * MEBIBYTE);
    });

  it('leaves a model of the usual shape the memory that it needs', async () => {
    const client = await load(written({ head: 'vectors', pooling: 'mean' }), 'embedding', 'onnxruntime');
    const limits = readFileSync(`/proc/${client.pid}/limits`, 'utf8');
    assert.match(limits, /^Max data size\s+unlimited/m);
    await client.close();
  });
});

/** NaN in one of the biases. */
const spoiled: TinyEncoder['weights'] = (name, dims) => {
  const values = tinyWeights(name, dims);
  return /layer\.0\.output\.dense\.bias/.test(name) ? values.fill(Number.NaN) : values;
};
const SPOILED: readonly (readonly [EncoderTask, TinyEncoder])[] = [
  ['embedding', { head: 'vectors', pooling: 'mean', weights: spoiled }],
  ['classification', { head: 'classification', labels: ['a', 'b'], weights: spoiled }],
  ['reranking', { head: 'classification', labels: ['r'], weights: spoiled }],
  ['ner', { head: 'tokens', labels: ['O', 'B-PER'], weights: spoiled }],
];

for (const engine of ['native', 'onnxruntime'] as const)
  describe(`damaged encoders, ${engine}`, () => {
    for (const [task, encoder] of SPOILED)
      it(`${task}: weights that are no numbers are refused when the model is opened`, async () => {
        const failure = await failureOf(load(written(encoder), task, engine));
        assert.deepEqual([failure.status, failure.code], [422, 'InvalidModelFile'], failure.message);
        assert.match(failure.message, /bad\/model.*finite/);
      });

    it('names the tokenizer that gives tokens of another model', async () => {
      const place = written({ head: 'vectors', pooling: 'mean' }, (at) => {
        const path = join(at, 'tokenizer.json');
        writeFileSync(path, readFileSync(path, 'utf8').replace(/"dog":\s*\d+/, '"dog": 99999'));
      });
      const client = await load(place, 'embedding', engine);
      const failure = await failureOf(client.embed(['a dog'], { signal }));
      assert.deepEqual([failure.status, failure.code], [422, 'InvalidModelFile'], failure.message);
      assert.match(failure.message, /tokenizer\.json of model "bad\/model".*99999/);
      assert.match(failure.message, new RegExp(String(TINY_SHAPE.vocabulary - 1)));
      assert.equal((await client.embed(['a cat'], { signal })).vectors.length, 1);
      await client.close();
    });

    it('tells outputs of one name apart', async () => {
      const client = await load(written({ head: 'classification', labels: ['a', 'b', 'a'] }), 'classification', engine);
      assert.deepEqual(client.info.labels, ['a', 'b', 'a (2)']);
      await client.close();
    });
  });
