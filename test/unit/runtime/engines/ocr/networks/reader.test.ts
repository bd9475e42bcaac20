import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { OcrPage } from '../../../../../../runtime/engines/contracts/ocr.js';
import { NetworksReader } from '../../../../../../runtime/engines/ocr/networks/entry.js';
import { emptyDataDir } from '../../../../../support/daemon.js';
import { floats, integers, type OnnxNode, type OnnxTensor, writeOnnx } from '../../../../../support/models/writers/onnx-writer.js';
import { pagePng } from '../../../../../support/vision/glyphs.js';
import { DETECTORS, node, recogniser, writeFiles } from '../../../../../support/vision/networks.js';

/**
 * Reads one character of four: a by the number that `nodes` make of `row`, the brightness by column, and by `least` at least; the others are as likely as
 * each other.
 */
function judge(nodes: readonly OnnxNode[], initializers: readonly OnnxTensor[], channels: 1 | 3 = 3, least = -1000): Uint8Array {
  return writeOnnx({
    nodes: [
      node('ReduceMean', ['line'], 'row', { axes: { ints: [1, 2] }, keepdims: { int: 0 } }),
      ...nodes,
      node('Mul', ['number', 'steep'], 'steeper'),
      node('Max', ['steeper', 'least'], 'first'),
      node('Concat', ['blank', 'first', 'others'], 'classes', { axis: { int: 1 } }),
      node('Unsqueeze', ['classes', 'one'], 'logits'),
    ],
    initializers: [
      ...initializers,
      floats('steep', [1], [100]),
      floats('least', [1], [least]),
      floats('blank', [1, 1], [-9]),
      floats('others', [1, 3], [0, 0, 0]),
      integers('one', [1]),
    ],
    inputs: [{ name: 'line', type: 'float32', dims: [1, channels, 48, 'width'] }],
    outputs: [{ name: 'logits', type: 'float32', dims: [1, 1, 5] }],
  });
}

/** Is sure of a line that is darker in its left part than in `right`, columns that count from the end where they are negative. */
const darkFirst = (right: readonly [from: number, to: number], least?: number): Uint8Array =>
  judge(
    [
      node('Slice', ['row', 'start', 'middle', 'one'], 'leftPart'),
      node('Slice', ['row', 'from', 'to', 'one'], 'rightPart'),
      node('ReduceMean', ['leftPart'], 'leftMean', { axes: { ints: [1] } }),
      node('ReduceMean', ['rightPart'], 'rightMean', { axes: { ints: [1] } }),
      node('Sub', ['rightMean', 'leftMean'], 'number'),
    ],
    [integers('start', [10]), integers('middle', [65]), integers('from', [right[0]]), integers('to', [right[1]])],
    3,
    least,
  );
/** Of lines that are narrower than what recognisers are shown, and of others. */
const SHORT = [65, 120] as const;
const LONG = [-65, -10] as const;

/** Is sure of a line after which there are zeros. */
const endsWithZeros = (channels: 1 | 3): Uint8Array =>
  judge(
    [
      node('Slice', ['row', 'last', 'end', 'one'], 'column'),
      node('Abs', ['column'], 'size'),
      node('ReduceMax', ['size'], 'largest', { axes: { ints: [1] } }),
      node('Sub', ['little', 'largest'], 'number'),
    ],
    [integers('last', [-1]), integers('end', [2 ** 31]), floats('little', [1], [0.1])],
    channels,
  );

/** Finds nothing, and fails for an image wider than the 4096 pixels that a detector may be shown. */
const NARROW = writeOnnx({
  nodes: [
    node('Shape', ['image'], 'dims'),
    node('Gather', ['dims', 'three'], 'wide'),
    node('Sub', ['wide', 'one'], 'last'),
    node('Gather', ['table', 'last'], 'nothing'),
    node('ReduceMean', ['image'], 'mean', { axes: { ints: [1] }, keepdims: { int: 1 } }),
    node('Mul', ['mean', 'nothing'], 'map'),
  ],
  initializers: [floats('table', [4096], new Float32Array(4096)), integers('three', [3]), integers('one', [1])],
  inputs: [{ name: 'image', type: 'float32', dims: [1, 3, 'height', 'width'] }],
  outputs: [{ name: 'map', type: 'float32', dims: [1, 1, 'height', 'width'] }],
});

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

interface Networks {
  readonly recogniser: Uint8Array;
  readonly turned?: Uint8Array;
  readonly detector?: Uint8Array;
  readonly engine?: 'paddleocr' | 'easyocr';
  readonly labels?: string;
}

async function read(page: Uint8Array, networks: Networks): Promise<OcrPage> {
  const { recogniser: graph, turned, detector = DETECTORS.probabilities(), engine = 'paddleocr', labels = 'a\nb\nc\nd' } = networks;
  const folder = emptyDataDir();
  const at = (name: string): string => join(folder, name);
  writeFiles(folder, { 'det.onnx': detector, 'rec.onnx': graph, 'dict.txt': labels, ...(turned && { 'cls.onnx': turned }) });
  const reader = await NetworksReader.open({
    engine,
    folder,
    threads: 1,
    detector: at('det.onnx'),
    recogniser: { graph: at('rec.onnx'), labels: at('dict.txt') },
    ...(turned && { turned: at('cls.onnx') }),
  });
  return reader.read({ name: 'p', bytes: page }, new AbortController().signal);
}

describe('a pair of networks', () => {
  const page = (text: string): Promise<Uint8Array> => pagePng(480, 160, [{ text, x: 64, y: 64 }]);

  // Networks for turned lines see the first four as they are, the others squeezed. Q is darker than 2.
  const ways: [text: string, isCalledTurned: boolean, isSure: boolean][] = [
    ['Q2', false, true],
    ['2Q', false, false],
    ['Q2', true, true],
    ['2Q', true, true],
    ['QQQQ2222', false, true],
    ['2222QQQQ', false, true],
    ['QQQQ2222', true, true],
    ['2222QQQQ', true, true],
  ];
  for (const [text, isCalledTurned, isSure] of ways)
    it(`reads ${text}, which is called ${isCalledTurned ? 'turned' : 'upright'}, ${isSure ? 'surely' : 'as it stands'}`, async () => {
      const { confidence } = await read(await page(text), {
        recogniser: darkFirst(text.length > 2 ? LONG : SHORT),
        turned: says(isCalledTurned),
      });
      assert.equal(confidence > 0.9, isSure, String(confidence));
    });

  it('believes a reading that is sure enough', async () => {
    const { confidence } = await read(await page('2222QQQQ'), { recogniser: darkFirst(LONG, 3), turned: says(false) });
    assert.ok(confidence > 0.8 && confidence < 0.9, String(confidence));
  });

  it('reads a line as it stands without a network for turned ones', async () => {
    const { confidence } = await read(await page('2222QQQQ'), { recogniser: darkFirst(LONG) });
    assert.ok(confidence < 0.5, String(confidence));
  });

  it("shows PaddleOCR's recognisers short lines with zeros after them, as in training", async () =>
    assert.equal((await read(await page('Q2'), { recogniser: endsWithZeros(3) })).text, 'a'));

  it("shows EasyOCR's recognisers nothing after a line", async () => {
    const { confidence } = await read(await page('Q2'), { recogniser: endsWithZeros(1), engine: 'easyocr' });
    assert.ok(confidence < 0.5, String(confidence));
  });

  it('sees a long strip sharply enough to tell its words apart', async () => {
    const strip = await pagePng(6000, 96, [
      { text: 'QU', x: 100, y: 36 },
      { text: '42', x: 264, y: 36 },
    ]);
    const { boxes } = await read(strip, { recogniser: recogniser(3, 48), labels: [...new Set('QUERN 42')].join('\n') });
    assert.equal(boxes.length, 2);
  });

  it('sees no more than 4096 pixels of a side', async () =>
    assert.equal((await read(await pagePng(9000, 20, []), { recogniser: darkFirst(SHORT), detector: NARROW })).text, ''));
});
