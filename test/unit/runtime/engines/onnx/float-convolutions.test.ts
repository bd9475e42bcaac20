import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { withFloatConvolutions } from '../../../../../runtime/engines/onnx/float-convolutions.js';
import { readGraph } from '../../../../../runtime/engines/onnx/graph.js';
import { openSession } from '../../../../../runtime/engines/onnx/session.js';
import {
  floats,
  integers,
  type OnnxGraph,
  type OnnxNode,
  type OnnxTensor,
  writeOnnx,
} from '../../../../support/models/writers/onnx-writer.js';

const CHANNELS = 4;
const KERNEL = 3;
const SAMPLES = 32;
const folder = mkdtempSync(join(tmpdir(), 'quern-convolutions-'));

const bytes = (name: string, dims: number[], values: number[]): OnnxTensor => ({
  name,
  type: 'uint8',
  dims,
  values: Uint8Array.from(values),
});
const ints = (...values: number[]) => ({ ints: values });

/** One convolution of bytes as quantising tools write it, from `input` to `output`. */
function convolution(input: string, output: string, hasBias: boolean): OnnxNode[] {
  const at = (name: string): string => `${output}/${name}`;
  const attributes = { dilations: ints(1), group: { int: 1 }, kernel_shape: ints(KERNEL), pads: ints(1, 1), strides: ints(1) };
  const bias: OnnxNode[] = [
    { op: 'Div', inputs: ['bias', at('scales')], outputs: [at('divided')] },
    { op: 'Floor', inputs: [at('divided')], outputs: [at('floor')] },
    { op: 'Cast', inputs: [at('floor')], outputs: [at('whole')], attributes: { to: { int: 6 } } },
    { op: 'Reshape', inputs: [at('whole'), 'bias_shape'], outputs: [at('bias')] },
    { op: 'Add', inputs: [at('sum'), at('bias')], outputs: [at('biased')] },
  ];
  return [
    { op: 'DynamicQuantizeLinear', inputs: [input], outputs: [at('bytes'), at('scale'), at('zero')] },
    { op: 'Mul', inputs: [at('scale'), 'w_scale'], outputs: [at('scales')] },
    { op: 'ConvInteger', inputs: [at('bytes'), 'w', at('zero'), 'w_zero'], outputs: [at('sum')], attributes },
    ...(hasBias ? bias : []),
    { op: 'Cast', inputs: [at(hasBias ? 'biased' : 'sum')], outputs: [at('float')], attributes: { to: { int: 1 } } },
    { op: 'Mul', inputs: [at('float'), at('scales')], outputs: [output] },
  ];
}

const WEIGHTS = Array.from({ length: CHANNELS * CHANNELS * KERNEL }, (_, index) => (index * 37) % 256);
const GRAPH: OnnxGraph = {
  nodes: [...convolution('x', 'middle', true), { op: 'Relu', inputs: ['middle'], outputs: ['above'] }, ...convolution('above', 'y', false)],
  initializers: [
    bytes('w', [CHANNELS, CHANNELS, KERNEL], WEIGHTS),
    bytes('w_zero', [], [120]),
    floats('w_scale', [], [0.01]),
    floats('bias', [CHANNELS], [0.5, -0.25, 0, 1]),
    integers('bias_shape', [1, -1, 1]),
  ],
  inputs: [{ name: 'x', type: 'float32', dims: [1, CHANNELS, 'n'] }],
  outputs: [{ name: 'y', type: 'float32', dims: [1, CHANNELS, 'n'] }],
};

function written(graph: OnnxGraph | Uint8Array, name: string): string {
  const path = join(folder, name);
  writeFileSync(path, graph instanceof Uint8Array ? graph : writeOnnx(graph));
  return path;
}

async function run(path: string): Promise<Float32Array> {
  const session = await openSession(path, { threads: 1, provider: 'cpu' });
  const data = Float32Array.from({ length: CHANNELS * SAMPLES }, (_, index) => Math.sin(index * 0.7));
  const { y } = await session.run({ x: { type: 'float32', dims: [1, CHANNELS, SAMPLES], data } });
  await session.close();
  return y!.data as Float32Array;
}

describe('convolutions of bytes', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('become convolutions of floats that give the same, and nothing of them is left', async () => {
    const before = written(GRAPH, 'bytes.onnx');
    const rewritten = written(withFloatConvolutions(before)!, 'floats.onnx');
    const graph = readGraph(rewritten);
    assert.deepEqual(
      graph.nodes.map(({ op }) => op),
      ['Conv', 'Relu', 'Conv'],
    );
    assert.deepEqual([...graph.constants.keys()].sort(), ['bias', 'w/float']);
    const [bytes, floats] = [await run(before), await run(rewritten)];
    const most = Math.max(...bytes.map(Math.abs));
    for (const [index, value] of bytes.entries())
      assert.ok(Math.abs(value - floats[index]!) < most * 0.02, `${index}: ${value} ${floats[index]}`);
  });

  it('stay where they are not understood or too large', () => {
    const scales = floats('w_scale', [CHANNELS], [0.01, 0.02, 0.03, 0.04]);
    const perChannel = { ...GRAPH, initializers: GRAPH.initializers.map((one) => (one.name === 'w_scale' ? scales : one)) };
    assert.equal(withFloatConvolutions(written(perChannel, 'channels.onnx')), undefined);
    const large = bytes('w', [CHANNELS, CHANNELS, 2 ** 16 + 1], new Array(CHANNELS * CHANNELS * (2 ** 16 + 1)).fill(1));
    const inLarge = { ...GRAPH, initializers: GRAPH.initializers.map((one) => (one.name === 'w' ? large : one)) };
    assert.equal(withFloatConvolutions(written(inLarge, 'large.onnx')), undefined);
    const shown = { ...GRAPH, outputs: [...GRAPH.outputs, { name: 'y/sum', type: 'int32' as const, dims: [1, CHANNELS, 'n'] }] };
    const graph = readGraph(written(withFloatConvolutions(written(shown, 'shown.onnx'))!, 'half.onnx'));
    assert.deepEqual(
      graph.nodes.filter(({ op }) => op.startsWith('Conv')).map(({ op }) => op),
      ['Conv', 'ConvInteger'],
    );
  });
});
