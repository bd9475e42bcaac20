import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Dense } from '../../../../../../../native/contract.js';
import { readWeights } from '../../../../../../../runtime/engines/encoders/onnx/bert/native-pass.js';
import { type Recognised, recognise, Unrecognised } from '../../../../../../../runtime/engines/encoders/onnx/bert/recognise.js';
import { readGraph } from '../../../../../../../runtime/engines/onnx/graph.js';
import {
  both,
  constants,
  gemmHead,
  nodes,
  nth,
  outsideWeights,
  type Rewriting,
  randomGraph,
  randomWeights,
  spelledNorms,
  turnedMatrices,
  writeGraph,
} from '../../../../../../support/encoders/graphs.js';
import type { BertShape } from '../../../../../../support/models/writers/onnx-bert.js';
import { quantised } from '../../../../../../support/models/writers/onnx-quantise.js';
import { floats, integers, type OnnxGraph, type OnnxNode } from '../../../../../../support/models/writers/onnx-writer.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-bert-'));
let count = 0;
function written(graph: OnnxGraph): string {
  count += 1;
  return writeGraph(folder, `graph-${count}.onnx`, graph);
}
function found(graph: OnnxGraph): { path: string; recognised: Recognised } {
  const path = written(graph);
  const read = readGraph(path);
  return { path, recognised: recognise(read, read.outputs[0]!.name, 0) };
}
/** The sum that a bias is part of. */
const addOf = (graph: OnnxGraph, bias: string): string =>
  graph.nodes.find(({ op, inputs }) => op === 'Add' && inputs.includes(bias))!.outputs[0]!;
const weightsOf = (dense: Dense): ArrayLike<number> => dense.weights;
/** A linear layer's weights as graphs have them: inputs are rows. */
function columns(name: string, inputs: number, outputs: number): number[] {
  const rows = randomWeights(name, [outputs, inputs]);
  return Array.from({ length: rows.length }, (_, at) => rows[(at % outputs) * inputs + Math.floor(at / outputs)]!);
}

const same: Rewriting = (graph) => graph;
const int8: Rewriting = (graph) => quantised(graph);
const peaks = new Map([['layernormalization_5', new Float32Array(32).fill(2)]]);
/** GELU with the half taken first, and multiplied where others divide. */
const otherGelu = both(
  constants(floats('root', [], [Math.SQRT1_2])),
  nodes((node, at) =>
    node.op === 'Div' && at > 0 && node.inputs[1]!.startsWith('number') && erfInputs.has(node.outputs[0]!)
      ? [{ ...node, op: 'Mul', inputs: [node.inputs[0]!, 'root'] }]
      : undefined,
  ),
);
const erfInputs = new Set(randomGraph().nodes.flatMap(({ op, inputs }) => (op === 'Erf' ? [inputs[0]!] : [])));
/** A mask of truth values that is chosen by, as newer exporters write it. */
const chosenMask = both(
  constants(floats('least', [], [-3.4e38]), floats('nothing', [], [0]), integers('axes', [1, 2])),
  (graph: OnnxGraph): OnnxGraph => {
    const mask = graph.nodes.find(
      ({ op, inputs }) => op === 'Mul' && graph.nodes.some((sub) => sub.op === 'Sub' && sub.outputs[0] === inputs[0]),
    )!.outputs[0]!;
    const own: OnnxNode[] = [
      { op: 'Cast', inputs: ['attention_mask'], outputs: ['truth'], attributes: { to: { int: 9 } } },
      { op: 'Unsqueeze', inputs: ['truth', 'axes'], outputs: ['wide'] },
      { op: 'Where', inputs: ['wide', 'nothing', 'least'], outputs: ['chosen'] },
    ];
    return {
      ...graph,
      nodes: [...own, ...graph.nodes.map((node) => ({ ...node, inputs: node.inputs.map((name) => (name === mask ? 'chosen' : name)) }))],
    };
  },
);

const KNOWN: readonly [string, Partial<BertShape>, Rewriting, string][] = [
  ['vectors of tokens', {}, same, ''],
  ['a vector of the first token', { head: 'classification' }, same, 'first dense:tanh dense:none'],
  ['labels of tokens', { head: 'tokens' }, same, 'dense:none'],
  ['a mean', { head: 'sentence' }, same, 'mean'],
  ["RoBERTa's positions", { segments: 0, positionKind: 'roberta' }, same, ''],
  ['positions that are given', { positionKind: 'input' }, same, ''],
  ['norms in single steps', {}, spelledNorms, ''],
  ['heads as Gemm', { head: 'classification' }, gemmHead, 'first dense:tanh dense:none'],
  ['turned matrices', {}, turnedMatrices, ''],
  ['the other ways to write GELU', {}, otherGelu, ''],
  ['a mask that is chosen by', {}, chosenMask, ''],
  ['weights in another file', {}, outsideWeights(join(folder, 'weights.bin')), ''],
  ['int8', { head: 'classification' }, int8, 'first dense:tanh dense:none'],
  ['smoothed int8', {}, (graph) => quantised(graph, { peaks }), ''],
];

describe('recognising encoders', () => {
  after(() => rmSync(folder, { recursive: true }));

  for (const [name, shape, rewriting, head] of KNOWN)
    it(`knows ${name}`, () => {
      const { path, recognised } = found(rewriting(randomGraph(shape)));
      assert.deepEqual(recognised.shape, {
        width: 32,
        layers: 2,
        heads: 2,
        inner: 48,
        vocabulary: 40,
        positions: 24,
        types: shape.segments ?? 2,
        epsilon: Math.fround(1e-12),
        activation: 'gelu',
        firstPosition: shape.positionKind === 'roberta' ? 2 : 0,
      });
      const steps = recognised.head.map((step) => ('take' in step ? step.take : `dense:${step.dense['head.activation']}`));
      assert.equal(steps.join(' '), head);
      const { layers, words, head: read } = readWeights(path, recognised);
      if (rewriting === int8) assert.ok(layers[1]!.key.weights instanceof Int8Array);
      else assert.deepEqual(Array.from(words as Float32Array), Array.from(randomWeights('embeddings.word_embeddings.weight', [40, 32])));
      // The second layer's weights come from the second layer, each from its own place.
      if (!name.includes('int8')) {
        assert.deepEqual(Array.from(weightsOf(layers[1]!.key)), columns('encoder.layer.1.attention.self.key.weight', 32, 32));
        assert.deepEqual(Array.from(weightsOf(layers[1]!.up)), columns('encoder.layer.1.intermediate.dense.weight', 32, 48));
        assert.deepEqual(Array.from(layers[0]!.down.bias!), Array.from(randomWeights('encoder.layer.0.output.dense.bias', [32])));
        const last = read.at(-1);
        const outputs = head === 'dense:none' || head.startsWith('first') ? 3 : 0;
        if (outputs > 0 && last && 'dense' in last)
          assert.deepEqual(Array.from(weightsOf(last.dense)), columns('classifier.weight', 32, outputs));
      }
    });

  const scalar = (op: string, index: number, value: number): Rewriting =>
    both(
      constants(floats('other', [], [value])),
      nth(op, index, (node) => ({ ...node, inputs: [node.inputs[0]!, 'other'] })),
    );
  const attribute = (op: string, index: number, attributes: OnnxNode['attributes']): Rewriting =>
    nth(op, index, (node) => ({ ...node, attributes: { ...node.attributes, ...attributes } }));
  /** An operation between the last node and what it takes. */
  const before = (op: string, inputs: readonly string[] = []): Rewriting =>
    nodes((node) =>
      node.outputs[0] === 'last_hidden_state'
        ? [
            { op, inputs: [node.inputs[0]!, ...inputs], outputs: ['between'] },
            { ...node, inputs: ['between'] },
          ]
        : undefined,
    );
  /** Nodes ahead of all others, which nothing needs to take. */
  const ahead =
    (...added: readonly OnnxNode[]): Rewriting =>
    (graph) => ({ ...graph, nodes: [...added, ...graph.nodes] });
  const doubled = Array.from({ length: 40 }, (_, at): OnnxNode => {
    const from = at === 0 ? 'input_ids' : `doubled_${at}`;
    return { op: 'Add', inputs: [from, from], outputs: [`doubled_${at + 1}`] };
  });
  const ten = { perm: { ints: Array<number>(10).fill(0) } };
  const unknownTo: readonly [string, Rewriting, RegExp][] = [
    ['a value that is made of itself', ahead({ op: 'Identity', inputs: ['input_ids'], outputs: ['input_ids'] }), /made twice/],
    [
      'a node that makes what a constant is',
      ahead({ op: 'Identity', inputs: ['input_ids'], outputs: ['embeddings.LayerNorm.weight'] }),
      /made twice/,
    ],
    [
      'a Transpose of one axis into ten',
      ahead({ op: 'Transpose', inputs: ['embeddings.LayerNorm.weight'], outputs: ['x'], attributes: ten }),
      /Transpose/,
    ],
    [
      'sums of sums without end',
      both(
        ahead(...doubled, { op: 'Cast', inputs: ['doubled_40'], outputs: ['large'], attributes: { to: { int: 1 } } }),
        nth('Add', 41, (node) => ({ ...node, inputs: [node.inputs[0]!, 'large'] })),
      ),
      /is not where BERT has one/,
    ],
    [
      'a scale of the values instead of the scores',
      both(constants(floats('one', [], [1])), (graph) => {
        const scores = graph.nodes.find(({ op }) => op === 'Div')!;
        const value = graph.nodes.find(
          ({ op, inputs }) => op === 'Reshape' && inputs[0] === addOf(graph, 'encoder.layer.0.attention.self.value.bias'),
        )!;
        return nodes((node) =>
          node === scores
            ? [{ ...node, inputs: [node.inputs[0]!, 'one'] }]
            : node === value
              ? [
                  { op: 'Div', inputs: [node.inputs[0]!, scores.inputs[1]!], outputs: ['smaller'] },
                  { ...node, inputs: ['smaller', ...node.inputs.slice(1)] },
                ]
              : undefined,
        )(graph);
      }),
      /is not where BERT has one/,
    ],
    ['scores of another scale', scalar('Div', 0, 3), /scores are scaled by/],
    ['another scale in one layer', scalar('Div', 2, 3), /scores are scaled by/],
    ['another GELU', scalar('Div', 1, 1.5), /is not where BERT has one/],
    ['a GELU of another height', scalar('Add', -3, 2), /is not where/],
    ['an epsilon of its own', attribute('LayerNormalization', 2, { epsilon: { float: 1e-5 } }), /LayerNormalization "/],
    ['a norm over other axes', attribute('LayerNormalization', 1, { axis: { int: 1 } }), /LayerNormalization "/],
    ['shares over other axes', attribute('Softmax', 1, { axis: { int: 2 } }), /Softmax "/],
    ['heads in another order', attribute('Transpose', 0, { perm: { ints: [0, 2, 3, 1] } }), /is not where/],
    ['what stands after the layers', before('Relu'), /Relu "between", at its end/],
    ['an operation of others', before('Mystery'), /Mystery "between"/],
    ['a scale after the layers', both(constants(floats('by', [1], [2])), before('Mul', ['by'])), /Mul "between"/],
    [
      'a mask that is always there',
      both(
        constants(floats('masked', [], [-5])),
        nth('Add', -11, (node) => ({ ...node, inputs: [node.inputs[0]!, 'masked'] })),
      ),
      /is not where/,
    ],
    [
      'positions from behind',
      both(
        constants(integers('minus', -1), integers('from', 23)),
        nth('Range', 0, (node) => ({ ...node, inputs: ['from', node.inputs[1]!, 'minus'] })),
      ),
      /is not where/,
    ],
    ['words by other numbers', nth('Gather', 0, (node) => ({ ...node, inputs: [node.inputs[0]!, 'token_type_ids'] })), /is not where/],
    ['a sum with itself', nth('Add', -1, (node) => ({ ...node, inputs: [node.inputs[0]!, node.inputs[0]!] })), /is not where/],
    [
      'another input',
      (graph) => ({ ...graph, inputs: [...graph.inputs, { name: 'pixel_values', type: 'float32', dims: [1] }] }),
      /takes the input "pixel_values"/,
    ],
    [
      'a length that is set',
      both(
        constants(integers('set', [1, 7, 2, 16])),
        nth('Reshape', 0, (node) => ({ ...node, inputs: [node.inputs[0]!, 'set'] })),
      ),
      /is not where|another way/,
    ],
  ];

  for (const [name, rewriting, reason] of unknownTo)
    it(`does not know ${name}`, () => {
      assert.throws(
        () => found(rewriting(randomGraph())),
        (error) =>
          (error instanceof Unrecognised || error instanceof RangeError) && reason.test(error.message) && !error.message.includes(folder),
      );
    });

  it('does not take a mean of what was taken of the first tokens', () => {
    const graph = randomGraph({ head: 'classification' });
    const first = graph.nodes.find(({ op, attributes }) => op === 'Gather' && attributes?.axis !== undefined)!;
    const states = first.inputs[0]!;
    const mean: OnnxNode = {
      op: 'ReduceMean',
      inputs: ['logits'],
      outputs: ['pooled'],
      attributes: { axes: { ints: [1] }, keepdims: { int: 0 } },
    };
    const after = { ...graph, nodes: [...graph.nodes, mean], outputs: [{ ...graph.outputs[0]!, name: 'pooled' }] };
    assert.throws(() => found(after), /Gather "\w+", at its end/);
    // The same mean of all tokens' states is one that is known.
    const alone = { ...after, nodes: [...graph.nodes, { ...mean, inputs: [states] }] };
    assert.deepEqual(found(alone).recognised.head, [{ take: 'mean' }]);
  });

  it('does not follow a graph that goes round in circles', () => {
    const round = nodes((node) =>
      node.outputs[0] === 'last_hidden_state'
        ? [
            { op: 'Identity', inputs: ['a'], outputs: ['b'] },
            { op: 'Identity', inputs: ['b'], outputs: ['a'] },
            { ...node, inputs: ['a'] },
          ]
        : undefined,
    );
    assert.throws(() => found(round(randomGraph())), /"a" is used before it is made/);
  });

  it('does not take weights of another size', () => {
    const graph = randomGraph();
    const initializers = graph.initializers.map((tensor) =>
      tensor.name === 'encoder.layer.1.attention.output.dense.bias' ? floats(tensor.name, [1], [0.5]) : tensor,
    );
    const { path, recognised } = found({ ...graph, initializers });
    assert.throws(() => readWeights(path, recognised), Unrecognised);
  });
});
