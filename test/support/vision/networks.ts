import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { floats, integers, type OnnxGraph, type OnnxNode, type OnnxTensor, writeOnnx } from '../models/writers/onnx-writer.js';
import { BLOCK, GLYPHS, shadeOf } from './glyphs.js';
import { lettersTokenizer } from './tokenizers.js';

/** How far two shades are apart for the networks; a shade is read within 0.03 of it on the scale from -1 to 1. */
const SHARPNESS = 4000;
const BLANK_LOGIT = -4;
/** What a change of shade costs, so that edges between blocks are read as nothing. */
const EDGE_COST = 400;
/** Joins the blocks of a line: wider than the gap between them. */
const JOIN = 41;
const NEVER = -1000;

/** One operation with one output. */
export const node = (op: string, inputs: string[], output: string, attributes: OnnxNode['attributes'] = {}): OnnxNode => ({
  op,
  inputs,
  outputs: [output],
  attributes,
});
const centred = (shade: number): number => (shade / 255 - 0.5) / 0.5;
const SHADES = GLYPHS.map((glyph) => centred(shadeOf(glyph)));

/** Nodes from `image` to `dark`, about 1 where a page is dark and 0 where it is white, for values on the scale of ImageNet. */
const DARK: OnnxNode[] = [
  node('ReduceMean', ['image'], 'mean', { axes: { ints: [1] }, keepdims: { int: 1 } }),
  node('Sub', ['threshold', 'mean'], 'darker'),
  node('Mul', ['darker', 'steep'], 'steeper'),
  node('Sigmoid', ['steeper'], 'dark'),
  node('MaxPool', ['dark'], 'joined', { kernel_shape: { ints: [1, JOIN] }, pads: { ints: [0, (JOIN - 1) / 2, 0, (JOIN - 1) / 2] } }),
];
const detector = (nodes: readonly OnnxNode[], dims: (number | string)[]): Uint8Array =>
  writeOnnx({
    nodes: [...DARK, ...nodes],
    initializers: [floats('threshold', [1], [1.6]), floats('steep', [1], [20]), floats('little', [1], [0.001])],
    inputs: [{ name: 'image', type: 'float32', dims: [1, 3, 'height', 'width'] }],
    outputs: [{ name: 'map', type: 'float32', dims }],
  });

/** Detectors by the form of their maps. */
export const DETECTORS = {
  /** Probabilities, `[1, 1, H, W]`. */
  probabilities: () => detector([node('Identity', ['joined'], 'map')], [1, 1, 'height', 'width']),
  /** Characters and gaps at half the size, `[1, H/2, W/2, 2]`. */
  characters: () =>
    detector(
      [
        node('Concat', ['dark', 'joined'], 'both', { axis: { int: 1 } }),
        node('AveragePool', ['both'], 'halved', { kernel_shape: { ints: [2, 2] }, strides: { ints: [2, 2] } }),
        node('Transpose', ['halved'], 'map', { perm: { ints: [0, 2, 3, 1] } }),
      ],
      [1, 'high', 'wide', 2],
    ),
  /** Lines and something else, `[1, 2, H, W]`. */
  lines: () =>
    detector(
      [node('Mul', ['joined', 'little'], 'other'), node('Concat', ['joined', 'other'], 'map', { axis: { int: 1 } })],
      [1, 2, 'height', 'width'],
    ),
} as const;

/** Nodes from `line` to `row`: its middle rows as one row of shades, `[1, 1, W]`. */
const MIDDLE: OnnxNode[] = [
  node('Slice', ['line', 'from', 'to', 'rows'], 'band'),
  node('ReduceMean', ['band'], 'shades', { axes: { ints: [1, 2] }, keepdims: { int: 0 } }),
  node('Unsqueeze', ['shades', 'one'], 'row'),
];
const middleConstants = (height: number): OnnxTensor[] => [
  integers('from', [Math.round(height * 0.45)]),
  integers('to', [Math.round(height * 0.55)]),
  integers('rows', [2]),
  integers('one', [1]),
];

/** Reads blocks: `[1, channels, height, W]` -> logits `[1, W, 1 + glyphs]`, the blank first; `classes` is what the graph says of their number. */
export function recogniser(
  channels: 1 | 3,
  height: number,
  metadata: OnnxGraph['metadata'] = {},
  classes: number | string = 1 + SHADES.length,
): Uint8Array {
  return writeOnnx({
    nodes: [
      ...MIDDLE,
      node('Conv', ['row', 'slope'], 'change', { pads: { ints: [2, 2] } }),
      node('Abs', ['change'], 'edge'),
      node('Mul', ['edge', 'cost'], 'penalty'),
      node('Sub', ['row', 'levels'], 'apart'),
      node('Mul', ['apart', 'apart'], 'squared'),
      node('Mul', ['squared', 'sharpness'], 'far'),
      node('Add', ['far', 'penalty'], 'against'),
      node('Neg', ['against'], 'glyphs'),
      node('Mul', ['edge', 'zero'], 'nothing'),
      node('Add', ['nothing', 'blank'], 'blanks'),
      node('Concat', ['blanks', 'glyphs'], 'classes', { axis: { int: 1 } }),
      node('Transpose', ['classes'], 'logits', { perm: { ints: [0, 2, 1] } }),
    ],
    initializers: [
      ...middleConstants(height),
      floats('slope', [1, 1, 5], [-1, -1, 0, 1, 1]),
      floats('cost', [1], [EDGE_COST]),
      floats('levels', [1, SHADES.length, 1], SHADES),
      floats('sharpness', [1], [SHARPNESS]),
      floats('zero', [1], [0]),
      floats('blank', [1], [BLANK_LOGIT]),
    ],
    inputs: [{ name: 'line', type: 'float32', dims: [1, channels, height, 'width'] }],
    outputs: [{ name: 'logits', type: 'float32', dims: [1, 'steps', classes] }],
    metadata,
  });
}

/** Blocks of a line that `lineEncoder` sees; its lines have just so many. */
export const LINE_BLOCKS = 8;
const LINE = { width: 256, height: 32 };
/** Tokens before the glyphs in `lettersTokenizer`. */
const SPECIALS = 4;
const END = 2;

/** Columns of the middles of the blocks, in a line as `lines` shows it: joined at both ends, with the margin of its rule around it. */
function middles(): number[] {
  const margin = Math.sqrt(BLOCK.height);
  const step = BLOCK.width + BLOCK.gap;
  const width = LINE_BLOCKS * step - BLOCK.gap + (JOIN - 1) + 2 * margin;
  const first = (JOIN - 1) / 2 + margin + BLOCK.width / 2;
  return Array.from({ length: LINE_BLOCKS }, (_, index) => Math.round(((first + index * step) / width) * LINE.width));
}

/** Sees a line as logits of a token for each block, and of the end after them: `[1, 3, 32, 256]` -> `[1, 9, tokens]`. */
function lineEncoder(): Uint8Array {
  const tokens = SPECIALS + SHADES.length;
  const end = Array.from({ length: tokens }, (_, id) => (id === END ? 0 : NEVER));
  return writeOnnx({
    nodes: [
      ...MIDDLE,
      node('Gather', ['row', 'columns'], 'places', { axis: { int: 2 } }),
      node('Transpose', ['places'], 'each', { perm: { ints: [0, 2, 1] } }),
      node('Sub', ['each', 'levels'], 'apart'),
      node('Mul', ['apart', 'apart'], 'squared'),
      node('Mul', ['squared', 'sharpness'], 'glyphs'),
      node('Concat', ['specials', 'glyphs'], 'known', { axis: { int: 2 } }),
      node('Concat', ['known', 'end'], 'last_hidden_state', { axis: { int: 1 } }),
    ],
    initializers: [
      ...middleConstants(LINE.height),
      integers('columns', middles()),
      floats('levels', [1, 1, SHADES.length], SHADES),
      floats('sharpness', [1], [-SHARPNESS]),
      floats('specials', [1, LINE_BLOCKS, SPECIALS], new Array<number>(LINE_BLOCKS * SPECIALS).fill(NEVER)),
      floats('end', [1, 1, tokens], end),
    ],
    inputs: [{ name: 'line', type: 'float32', dims: [1, 3, LINE.height, LINE.width] }],
    outputs: [{ name: 'last_hidden_state', type: 'float32', dims: [1, LINE_BLOCKS + 1, tokens] }],
  });
}

/** Gives the row of what was seen that belongs to each token: `[1, n]`, `[1, seen, tokens]` -> `[1, n, tokens]`. */
function lineDecoder(): Uint8Array {
  return writeOnnx({
    nodes: [
      node('Shape', ['input_ids'], 'shape'),
      node('Slice', ['shape', 'one', 'two'], 'length'),
      node('Slice', ['encoder_hidden_states', 'zero', 'length', 'one'], 'logits'),
    ],
    initializers: [integers('zero', [0]), integers('one', [1]), integers('two', [2])],
    inputs: [
      { name: 'input_ids', type: 'int64', dims: ['batch', 'length'] },
      { name: 'encoder_hidden_states', type: 'float32', dims: ['batch', 'seen', SPECIALS + SHADES.length] },
    ],
    outputs: [{ name: 'logits', type: 'float32', dims: ['batch', 'length', SPECIALS + SHADES.length] }],
  });
}

/** Writes files below a folder; objects as JSON. */
export function writeFiles(folder: string, files: Readonly<Record<string, Uint8Array | string | object>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, ...name.split('/'));
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content));
  }
}

/** Files of the engines that read blocks, by their place below `{data_dir}/models`. */
export const ENGINE_FILES: Readonly<Record<'paddleocr' | 'easyocr' | 'surya', () => Record<string, Uint8Array | string | object>>> = {
  paddleocr: () => ({
    'det.onnx': DETECTORS.probabilities(),
    'languages/english/rec.onnx': recogniser(3, 48),
    'languages/english/dict.txt': GLYPHS.join('\n'),
  }),
  easyocr: () => ({
    'craft.onnx': DETECTORS.characters(),
    'rec_english.onnx': recogniser(1, 64),
    'rec_english.json': { characters: ['', ...GLYPHS], languages: ['en'] },
  }),
  surya: () => ({
    'det.onnx': DETECTORS.lines(),
    'encoder_model.onnx': lineEncoder(),
    'decoder_model.onnx': lineDecoder(),
    'tokenizer.json': lettersTokenizer(['<pad>', '<s>', '</s>', '<unk>'], GLYPHS),
    'config.json': { decoder: { bos_token_id: 1, eos_token_id: END, pad_token_id: 0, max_position_embeddings: 64 } },
    'preprocessor_config.json': { size: LINE, image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] },
  }),
};
