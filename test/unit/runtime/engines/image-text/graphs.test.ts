import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openedGraphs } from '../../../../../runtime/engines/image-text/graphs.js';
import { LineWriter } from '../../../../../runtime/engines/image-text/image-writer.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { installDonut } from '../../../../support/vision/document-models.js';

const FORMATS = (graph: string): string[] => ['', '_fp16', '_q4'].map((format) => `onnx/${graph}${format}.onnx`);
const SPLIT = (format: string): string[] => ['decoder_model', 'decoder_with_past_model'].map((graph) => `${graph}${format}.onnx`);
const rows: [what: string, name: string, files: string[], opened: string[], wanted?: string][] = [
  [
    'a layout model in one of its formats',
    'org/layoutlm-base',
    ['onnx/model.onnx', 'onnx/model_fp16.onnx', 'onnx/model.onnx_data'],
    ['onnx/model.onnx'],
  ],
  [
    'a merged decoder instead of its parts',
    'org/donut',
    ['encoder_model.onnx', 'decoder_model.onnx', 'decoder_with_past_model.onnx', 'decoder_model_merged.onnx'],
    ['encoder_model.onnx', 'decoder_model_merged.onnx'],
  ],
  [
    'a decoder in two',
    'org/donut',
    ['onnx/encoder_model.onnx', 'onnx/decoder_with_past_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_model_q4.onnx'],
    ['onnx/encoder_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_with_past_model.onnx'],
  ],
  ['what is there of a model that is not whole', 'org/donut', ['decoder_model.onnx', 'README.md'], ['decoder_model.onnx']],
  [
    'halves where nothing else is there',
    'org/donut',
    ['onnx/encoder_model_fp16.onnx', 'onnx/decoder_model_merged_fp16.onnx'],
    ['onnx/encoder_model_fp16.onnx', 'onnx/decoder_model_merged_fp16.onnx'],
  ],
  ['a layout model of four bits', 'org/layoutlm', ['onnx/model_q4.onnx'], ['onnx/model_q4.onnx']],
  [
    'the named format',
    'org/donut',
    [...FORMATS('encoder_model'), ...FORMATS('decoder_model_merged')],
    ['onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx'],
    'Q4',
  ],
  [
    'all graphs in the format that all have',
    'org/donut',
    [...FORMATS('encoder_model'), 'onnx/decoder_model_merged_q4.onnx'],
    ['onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx'],
  ],
  [
    'each as it is where they share no format',
    'org/donut',
    ['encoder_model_fp16.onnx', 'decoder_model_merged_q4.onnx'],
    ['encoder_model_fp16.onnx', 'decoder_model_merged_q4.onnx'],
  ],
  [
    'plain parts instead of lesser weights in one',
    'org/donut',
    ['encoder_model.onnx', ...SPLIT(''), 'decoder_model_merged_quantized.onnx'],
    ['encoder_model.onnx', ...SPLIT('')],
  ],
  [
    'a plain decoder without a memory instead of lesser weights in one',
    'org/donut',
    ['encoder_model.onnx', 'decoder_model.onnx', 'decoder_model_merged_quantized.onnx'],
    ['encoder_model.onnx', 'decoder_model.onnx'],
  ],
  [
    'a merged decoder where the parts are lesser',
    'org/donut',
    ['encoder_model.onnx', ...SPLIT('_q4'), 'decoder_model_merged.onnx'],
    ['encoder_model.onnx', 'decoder_model_merged.onnx'],
  ],
  [
    'the named format where the parts have it',
    'org/donut',
    ['encoder_model_fp16.onnx', 'encoder_model_q4.onnx', ...SPLIT('_fp16'), 'decoder_model_merged_q4.onnx'],
    ['encoder_model_fp16.onnx', ...SPLIT('_fp16')],
    'FP16',
  ],
  [
    'the named format where the merged decoder has it',
    'org/donut',
    ['encoder_model.onnx', 'encoder_model_q4.onnx', ...SPLIT(''), 'decoder_model_merged_q4.onnx'],
    ['encoder_model_q4.onnx', 'decoder_model_merged_q4.onnx'],
    'Q4',
  ],
  [
    'the form of which the encoder has the format',
    'org/donut',
    ['encoder_model_fp16.onnx', ...SPLIT(''), 'decoder_model_merged_fp16.onnx'],
    ['encoder_model_fp16.onnx', 'decoder_model_merged_fp16.onnx'],
  ],
  [
    'a merged decoder instead of parts of different weights',
    'org/donut',
    [
      'encoder_model_q4.onnx',
      'encoder_model.onnx',
      'decoder_model.onnx',
      'decoder_with_past_model_q4.onnx',
      'decoder_model_merged_q4.onnx',
    ],
    ['encoder_model_q4.onnx', 'decoder_model_merged_q4.onnx'],
  ],
  ['nothing', 'org/layoutlm', ['encoder_model.onnx'], []],
];

for (const [what, name, files, opened, wanted = null] of rows)
  it(`a document model opens ${what}`, () => assert.deepEqual(openedGraphs(name, files, wanted), opened));

it('a document model is refused in a format that one of its graphs does not have', () => {
  const files = [...FORMATS('encoder_model'), 'onnx/decoder_model_merged.onnx'];
  assert.throws(() => openedGraphs('org/donut', files, 'Q4'), {
    kind: 'not_found',
    message: /no Q4.*decoder_model_merged\.onnx.*quern pull org\/donut:Q4/,
  });
});

it('a writer of lines opens the best format, not the first by name', async () => {
  const dataDir = emptyDataDir();
  installDonut(dataDir, 'someone/writer', 'merged', 'fp16');
  const folder = join(dataDir, 'models/someone/writer');
  // Whoever opens these fails.
  for (const graph of ['encoder_model_bnb4', 'decoder_model_merged_bnb4', 'decoder_model_q4'])
    writeFileSync(join(folder, `onnx/${graph}.onnx`), 'no graph');
  const writer = await LineWriter.open(folder, { threads: 1, provider: 'cpu', shapesVary: true });
  const pixels = { width: 32, height: 32, channels: 3 as const, data: Buffer.alloc(32 * 32 * 3, 255) };
  assert.ok((await writer.write(pixels, AbortSignal.timeout(60_000))).confidence > 0);
});
