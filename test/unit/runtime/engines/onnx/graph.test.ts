import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ConstantReader } from '../../../../../runtime/engines/onnx/constants.js';
import { readGraph } from '../../../../../runtime/engines/onnx/graph.js';
import { bytesField, integerField, messageField, packedField, textField } from '../../../../../runtime/formats/onnx/protobuf.js';
import { floats, type OnnxGraph, writeOnnx } from '../../../../support/models/writers/onnx-writer.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-graph-'));
let count = 0;
function written(bytes: Uint8Array): string {
  count += 1;
  const path = join(folder, `${count}.onnx`);
  writeFileSync(path, bytes);
  return path;
}
const slot = { name: 'x', type: 'int64', dims: ['batch', 3] } as const;

describe('reading a graph', () => {
  after(() => rmSync(folder, { recursive: true }));

  it('reads operations with their attributes, also negative ones', () => {
    const graph: OnnxGraph = {
      nodes: [
        { op: 'Softmax', inputs: ['x'], outputs: ['y'], attributes: { axis: { int: -2 } } },
        {
          op: 'Pad',
          inputs: ['y', '', ''],
          outputs: ['z'],
          attributes: { pads: { ints: [-1, 0, 3] }, mode: { text: 'edge' }, value: { float: 0.5 } },
        },
        { op: 'Gelu', inputs: ['z'], outputs: ['w'], domain: 'com.microsoft' },
        { op: 'Constant', inputs: [], outputs: ['c'], attributes: { value: { tensor: floats('', [2], [1, -4]) } } },
      ],
      initializers: [floats('weight', [1, 2], [7, 8])],
      inputs: [slot, { name: 'weight', type: 'float32', dims: [1, 2] }],
      outputs: [{ ...slot, name: 'w' }],
      opset: 14,
    };
    const path = written(writeOnnx(graph));
    const read = readGraph(path);
    assert.equal(read.opset, 14);
    assert.deepEqual(
      read.nodes.map(({ op, inputs, attributes }) => [
        op,
        inputs,
        Object.fromEntries([...attributes].filter(([name]) => op !== 'Constant' || name !== 'value')),
      ]),
      [
        ['Softmax', ['x'], { axis: -2 }],
        ['Pad', ['y'], { pads: [-1, 0, 3], mode: 'edge', value: 0.5 }],
        ['com.microsoft.Gelu', ['z'], {}],
        ['Constant', [], {}],
      ],
    );
    assert.deepEqual(read.inputs, [{ name: 'x', element: 7, dims: [-1, 3] }]);
    const reader = new ConstantReader(path);
    assert.deepEqual(Array.from(reader.numbers(read.constants.get('weight')!)), [7, 8]);
    assert.deepEqual(Array.from(reader.numbers(read.constants.get('c')!)), [1, -4]);
  });

  const float = (value: number): Uint8Array => new Uint8Array(Float32Array.of(value).buffer);
  const raw = (values: ArrayBufferView<ArrayBuffer>): Uint8Array => new Uint8Array(values.buffer);
  const tensors: [string, number, number[], ReturnType<typeof bytesField>, number[]][] = [
    ['floats one by one', 1, [2], bytesField(4, Buffer.concat([float(1.5), float(-2)])), [1.5, -2]],
    ['a scale alone', 1, [], bytesField(4, float(0.25)), [0.25]],
    ['bytes as integers', 3, [2], packedField(5, [3, 120]), [3, 120]],
    ['halves', 10, [3], bytesField(9, raw(Uint16Array.of(0x3c00, 0xc000, 0x0001))), [1, -2, 2 ** -24]],
    ['raw integers', 7, [2], bytesField(9, raw(BigInt64Array.of(-1n, 2n ** 40n))), [-1, 2 ** 40]],
    ['raw bytes', 2, [3], bytesField(9, Uint8Array.of(0, 128, 255)), [0, 128, 255]],
  ];
  for (const [name, element, dims, values, expected] of tensors)
    it(`reads ${name}`, () => {
      const tensor = [...packedField(1, dims), ...integerField(2, element), ...textField(8, 'one'), ...values];
      const path = written(Buffer.concat([...messageField(7, messageField(5, tensor))]));
      const constant = readGraph(path).constants.get('one')!;
      assert.deepEqual(constant.dims, dims);
      assert.deepEqual(Array.from(new ConstantReader(path).numbers(constant)), expected);
    });

  it('says which constant has too few numbers, or others than numbers', () => {
    const read = (tensor: ReturnType<typeof integerField>): ArrayLike<number> => {
      const path = written(Buffer.concat([...messageField(7, messageField(5, [...tensor, ...textField(8, 'short')]))]));
      return new ConstantReader(path).numbers(readGraph(path).constants.get('short')!);
    };
    assert.throws(() => read([...packedField(1, [3]), ...integerField(2, 1), ...bytesField(4, float(1))]), /"short" has 1 numbers/);
    assert.throws(() => read([...packedField(1, [3]), ...integerField(2, 8)]), /"short" has elements of the type 8/);
    assert.throws(() => read([...packedField(1, [300]), ...integerField(2, 1), ...bytesField(9, float(1))]), RangeError);
  });
});
