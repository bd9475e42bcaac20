// What the tables of test/api/vision share: models of documents, images of pages, and requests.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setLogLevel } from '../../../runtime/base/log.js';
import { emptyDataDir } from '../daemon.js';
import { pdf } from '../documents.js';
import type { Scenario } from '../scenario.js';
import { installDonut, installLayout } from './document-models.js';
import { drawnBlocks, pagePng } from './glyphs.js';
import { textImage } from './pictures.js';
import { binaryForm, installEngine } from './stage.js';

setLogLevel('error');
export const dataDir = emptyDataDir();
installEngine(dataDir, 'paddleocr');
installDonut(dataDir, 'someone/donut-base-finetuned-cord-v2', 'merged');
installDonut(dataDir, 'someone/donut-halves-docvqa', 'merged', 'fp16');
installDonut(dataDir, 'someone/donut-docvqa', 'split');
installDonut(dataDir, 'someone/donut-rvlcdip', 'whole');
installDonut(dataDir, 'someone/donut-plain', 'whole');
installLayout(dataDir, 'someone/layoutlm-docvqa', 'answers');
installLayout(dataDir, 'someone/layoutlm-pages', 'pages');
installLayout(dataDir, 'someone/layoutlm-words', 'words');
// Of another kind than their names or tasks say, and not whole.
installLayout(dataDir, 'someone/embedder', 'words');
installDonut(dataDir, 'someone/layoutlm-of-donut', 'whole');
installDonut(dataDir, 'someone/half-donut', 'split');
rmSync(join(dataDir, 'models/someone/half-donut/onnx/decoder_model.onnx'));
installDonut(dataDir, 'someone/writer', 'whole');
for (const file of ['onnx/encoder_model.onnx', 'preprocessor_config.json']) rmSync(join(dataDir, 'models/someone/writer', file));

export const line = (text: string) => [{ text, x: 64, y: 64 }];
export const png = await pagePng(640, 192, line('QUERN'));
export const other = await pagePng(640, 192, line('42'));
export const textPage = await textImage([[24, 20, 'The Quern mill grinds']]);
export const blank = await pagePng(320, 160, []);
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
export const scan = pdf([drawnBlocks('42'), drawnBlocks('24')]);

export const ocr = (name: string, body: Record<string, unknown>, rest: Partial<Scenario> = {}): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/ocr',
  body,
  ...rest,
});
export const extract = (name: string, body: Record<string, unknown>, rest: Partial<Scenario> = {}): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/documents/extract',
  body,
  ...rest,
});
const CORE_PATHS = { ocr: '/v1/vision/ocr', 'documents/extract': '/v1/vision/documents/extract' } as const;
export const form = (
  name: string,
  path: 'ocr' | 'documents/extract',
  parts: Parameters<typeof binaryForm>,
  rest: Partial<Scenario> = {},
): Scenario => ({ name: `core: ${name}`, method: 'POST', path: CORE_PATHS[path], ...binaryForm(...parts), ...rest });
export const upload = (name: string, bytes: Uint8Array, keep: (id: string) => void, fields?: Record<string, string>): Scenario => ({
  name: `upload ${name}`,
  method: 'POST',
  path: '/v1/files',
  ...binaryForm([['file', name, bytes]], fields),
  json: (body) => keep(body.id),
});
