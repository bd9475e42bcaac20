import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { type NetworksBody, paddleocr, surya } from '../../../../../../runtime/engines/ocr/networks/engine.js';
import { emptyDataDir } from '../../../../../support/daemon.js';
import { writeFiles } from '../../../../../support/vision/networks.js';

const WHOLE = { 'det.onnx': 1, 'tokenizer.json': 10, 'onnx/encoder_model.onnx': 20 };
const rows: [what: string, files: Record<string, number>, sizeBytes: number][] = [
  [
    'one format of each graph',
    { ...WHOLE, 'onnx/encoder_model_q4.onnx': 7, 'onnx/decoder_model.onnx': 300, 'onnx/decoder_model_fp16.onnx': 9 },
    321,
  ],
  [
    'the decoder in one form',
    { ...WHOLE, 'onnx/decoder_model_merged.onnx': 300, 'onnx/decoder_model.onnx': 5, 'onnx/decoder_with_past_model.onnx': 6 },
    321,
  ],
  ['a decoder in two', { ...WHOLE, 'onnx/decoder_model.onnx': 300, 'onnx/decoder_with_past_model.onnx': 4000 }, 4321],
  [
    'nothing that is not a part of it',
    { ...WHOLE, 'onnx/decoder_model.onnx': 300, 'onnx/old/decoder_model_merged.onnx': 8, 'old/encoder_model.onnx': 8, 'rec.onnx': 8 },
    321,
  ],
];

for (const [what, sizes, sizeBytes] of rows)
  it(`a writer of lines counts ${what}`, async () => {
    const folder = join(emptyDataDir(), 'models', 'surya');
    // What is no sound graph counts as it is.
    writeFiles(folder, Object.fromEntries(Object.entries(sizes).map(([file, bytes]) => [file, 'x'.repeat(bytes)])));
    const found = await surya.find([], { folder, repository: async () => ({ folder, files: Object.keys(sizes).sort() }) });
    assert.equal(found.sizeBytes, sizeBytes);
  });

for (const [asked, folderOf] of [
  ['en', 'eng'],
  ['fr', 'latin'],
])
  it(`the recogniser of ${asked} is found in ${folderOf}/`, async () => {
    const folder = join(emptyDataDir(), 'models', 'paddleocr');
    const files = ['det.onnx', 'deu/rec.onnx', 'dict.txt', 'eng/rec.onnx', 'latin/rec.onnx'];
    writeFiles(folder, Object.fromEntries(files.map((file) => [file, 'x'])));
    const { body } = await paddleocr.find([asked!], { folder, repository: async () => ({ folder, files }) });
    assert.equal((body as NetworksBody).recogniser!.graph, join(folder, `${folderOf}/rec.onnx`));
  });
