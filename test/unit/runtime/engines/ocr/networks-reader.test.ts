import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { floats, integers, type OnnxNode, type OnnxTensor, writeOnnx } from '../../../../../models/writers/onnx-writer.js';
import type { OcrPage } from '../../../../../runtime/engines/ocr/contract.js';
import { NetworksReader } from '../../../../../runtime/engines/ocr/networks-reader.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { type DrawnLine, pagePng } from '../../../../support/vision/glyphs.js';
import { DETECTORS, node, recogniser, writeFiles } from '../../../../support/vision/networks.js';

/** Reads one character of four: a by the number that `nodes` make of `row`, the brightness by column; the others are as likely as each other. */
function judge(nodes: readonly OnnxNode[], initializers: readonly OnnxTensor[]): Uint8Array {
  return writeOnnx({
    nodes: [
      node('ReduceMean', ['line'], 'row', { axes: { ints: [1, 2] }, keepdims: { int: 0 } }),
      ...nodes,
      node('Mul', ['number', 'steep'], 'first'),
      node('Concat', ['blank', 'first', 'others'], 'classes', { axis: { int: 1 } }),
      node('Unsqueeze', ['classes', 'one'], 'logits'),
    ],
    initializers: [
      ...initializers,
      floats('steep', [1], [100]),
      floats('blank', [1, 1], [-9]),
      floats('others', [1, 3], [0, 0, 0]),
      integers('one', [1]),
    ],
    inputs: [{ name: 'line', type: 'float32', dims: [1, 3, 48, 'width'] }],
    outputs: [{ name: 'logits', type: 'float32', dims: [1, 1, 5] }],
  });
}

/** Is sure of a line that is darker in its left part than in its right one. */
const DARK_FIRST = judge(
  [
    node('Slice', ['row', 'start', 'middle', 'one'], 'left'),
    node('Slice', ['row', 'middle', 'end', 'one'], 'right'),
    node('ReduceMean', ['left'], 'leftMean', { axes: { ints: [1] } }),
    node('ReduceMean', ['right'], 'rightMean', { axes: { ints: [1] } }),
    node('Sub', ['rightMean', 'leftMean'], 'number'),
  ],
  [integers('start', [10]), integers('middle', [65]), integers('end', [120])],
);

/** Is sure of a line after which there are zeros. */
const ENDS_WITH_ZEROS = judge(
  [
    node('Slice', ['row', 'last', 'end', 'one'], 'column'),
    node('Abs', ['column'], 'size'),
    node('ReduceMax', ['size'], 'largest', { axes: { ints: [1] } }),
    node('Sub', ['little', 'largest'], 'number'),
  ],
  [integers('last', [-1]), integers('end', [2 ** 31]), floats('little', [1], [0.1])],
);

/** Says of every line whether it is turned. */
const says = (isTurned: boolean): Uint8Array =>
  writeOnnx({
    nodes: [
      node('ReduceMean', ['line'], 'mean', { axes: { ints: [1, 2, 3] }, keepdims: { int: 0 } }),
      node('Reshape', ['mean', 'shape'], 'one'),
      node('Mul', ['one', 'zeros'], 'none'),
      node('Add', ['none', 'answer'], 'probabilities'),
    ],
    initializers: [integers('shape', [1, 1]), floats('zeros', [1, 2], [0, 0]), floats('answer', [1, 2], isTurned ? [0, 1] : [1, 0])],
    inputs: [{ name: 'line', type: 'float32', dims: [1, 3, 48, 192] }],
    outputs: [{ name: 'probabilities', type: 'float32', dims: [1, 2] }],
  });

async function read(graph: Uint8Array, turned: Uint8Array | undefined, page: Uint8Array, labels = 'a\nb\nc\nd'): Promise<OcrPage> {
  const folder = emptyDataDir();
  const at = (name: string): string => join(folder, name);
  writeFiles(folder, {
    'det.onnx': DETECTORS.probabilities(),
    'rec.onnx': graph,
    'dict.txt': labels,
    ...(turned && { 'cls.onnx': turned }),
  });
  const reader = await NetworksReader.open({
    engine: 'paddleocr',
    threads: 1,
    detector: at('det.onnx'),
    recogniser: { graph: at('rec.onnx'), labels: at('dict.txt') },
    ...(turned && { turned: at('cls.onnx') }),
  });
  return reader.read({ name: 'p', bytes: page }, new AbortController().signal);
}

describe('a pair of networks', () => {
  const upright: DrawnLine[] = [{ text: 'Q2', x: 64, y: 64 }];
  const onItsHead: DrawnLine[] = [{ text: '2Q', x: 64, y: 64 }];

  for (const isTurned of [false, true])
    it(`reads a line the way up that is surer, though it is told ${isTurned ? '' : 'not '}to be turned`, async () => {
      for (const lines of [upright, onItsHead]) {
        const { text, confidence } = await read(DARK_FIRST, says(isTurned), await pagePng(320, 160, lines));
        assert.equal(text, 'a');
        assert.ok(confidence > 0.9, String(confidence));
      }
    });

  it('reads a line as it stands without a network for turned ones', async () => {
    const { confidence } = await read(DARK_FIRST, undefined, await pagePng(320, 160, onItsHead));
    assert.ok(confidence < 0.5, String(confidence));
  });

  it('shows short lines with zeros after them, as in training', async () =>
    assert.equal((await read(ENDS_WITH_ZEROS, undefined, await pagePng(320, 160, upright))).text, 'a'));

  it('sees a long strip sharply enough to tell its words apart', async () => {
    const strip = await pagePng(6000, 96, [
      { text: 'QU', x: 100, y: 36 },
      { text: '42', x: 264, y: 36 },
    ]);
    const { boxes } = await read(recogniser(3, 48), undefined, strip, [...new Set('QUERN 42')].join('\n'));
    assert.equal(boxes.length, 2);
  });
});
