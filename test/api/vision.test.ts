import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { visionEndpoints as coreVisionEndpoints } from '../../gateway/core/vision.js';
import { fileEndpoints } from '../../gateway/universal/files.js';
import { visionEndpoints } from '../../gateway/universal/vision.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { emptyDataDir } from '../support/daemon.js';
import { pdf } from '../support/documents.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { installDonut, installLayout } from '../support/vision/document-models.js';
import { drawnBlocks, page, pagePng } from '../support/vision/glyphs.js';
import { bmpOf, lyingPng, textImage } from '../support/vision/pictures.js';
import { binaryForm, installEngine, openVisionStage, type VisionStage } from '../support/vision/stage.js';

setLogLevel('error');
const dataDir = emptyDataDir();
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

const line = (text: string) => [{ text, x: 64, y: 64 }];
const png = await pagePng(640, 192, line('QUERN'));
const other = await pagePng(640, 192, line('42'));
const textPage = await textImage([[24, 20, 'The Quern mill grinds']]);
const blank = await pagePng(320, 160, []);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const scan = pdf([drawnBlocks('42'), drawnBlocks('24')]);
let fileId = '';
let textId = '';
let keptId = '';

const ocr = (name: string, body: Record<string, unknown>, rest: Partial<Scenario> = {}): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/ocr',
  body,
  ...rest,
});
const extract = (name: string, body: Record<string, unknown>, rest: Partial<Scenario> = {}): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/documents/extract',
  body,
  ...rest,
});
const CORE_PATHS = { ocr: '/v1/vision/ocr', 'documents/extract': '/v1/vision/documents/extract' } as const;
const form = (
  name: string,
  path: 'ocr' | 'documents/extract',
  parts: Parameters<typeof binaryForm>,
  rest: Partial<Scenario> = {},
): Scenario => ({ name: `core: ${name}`, method: 'POST', path: CORE_PATHS[path], ...binaryForm(...parts), ...rest });
const upload = (name: string, bytes: Uint8Array, keep: (id: string) => void, fields?: Record<string, string>): Scenario => ({
  name: `upload ${name}`,
  method: 'POST',
  path: '/v1/files',
  ...binaryForm([['file', name, bytes]], fields),
  json: (body) => keep(body.id),
});

const OCR: Scenario[] = [
  ocr('81 neither images nor file', { model: 'paddleocr' }, { status: 400, contains: ['images or file_id'] }),
  ocr('an empty list of images', { images: [] }, { status: 400 }),
  ocr('null for both', { images: null, file_id: null }, { status: 400 }),
  ocr(
    'two images in their order',
    { model: 'paddleocr', images: [base64(png), `data:image/png;base64,${base64(other)}`] },
    {
      json: (body) => {
        assert.deepEqual(
          [body.object, body.model, body.usage, body.data.map((one: { index: number; text: string }) => [one.index, one.text])],
          [
            'list',
            'paddleocr',
            { images_processed: 2 },
            [
              [0, 'QUERN'],
              [1, '42'],
            ],
          ],
        );
        assert.ok(body.data.every((one: object) => !('boxes' in one)));
        assert.ok(body.data[0].confidence > 0.8 && body.data[0].confidence < 1);
      },
    },
  ),
  ocr(
    'boxes where they are wanted',
    { model: 'paddleocr', images: [base64(png)], return_boxes: true },
    {
      json: (body) => {
        const [box] = body.data[0].boxes;
        assert.deepEqual([box.text, Object.keys(box).sort()], ['QUERN', ['confidence', 'text', 'x1', 'x2', 'y1', 'y2']]);
        assert.ok(box.x1 < 64 && box.x2 > 64 + 184 && box.y1 < 64 && box.y2 > 88);
      },
    },
  ),
  ocr(
    'no key boxes where there are none',
    { model: 'paddleocr', images: [base64(blank)], return_boxes: true },
    {
      json: (body) => assert.deepEqual(body.data, [{ index: 0, text: '', confidence: 0 }]),
    },
  ),
  ocr(
    'a BMP',
    { model: 'PaddleOCR', images: [base64(bmpOf(page(640, 192, line('NEQ'))))] },
    { json: (body) => assert.equal(body.data[0].text, 'NEQ') },
  ),
  ocr(
    'surya without weights: tesseract reads and is named',
    { images: [base64(blank)] },
    {
      json: (body) => {
        assert.equal(body.model, 'tesseract');
        assert.match(body.notes[0], /weights of surya/);
      },
    },
  ),
  ocr(
    'an engine without weights',
    { model: 'easyocr', images: [base64(png)] },
    {
      status: 404,
      contains: ['quern pull runemic-ai/easyocr-onnx', 'OcrModelMissing'],
    },
  ),
  ocr('an unknown engine', { model: 'paper', images: [base64(png)] }, { status: 400, contains: ['surya, easyocr, paddleocr, tesseract'] }),
  ocr(
    'a language without data',
    { model: 'tesseract', languages: ['de'], images: [base64(png)] },
    {
      status: 404,
      contains: ['deu.traineddata', '@tesseract.js-data/deu'],
    },
  ),
  ...['../../etc/passwd', 'a b', '%00', 'eng+deu', ''.padEnd(60, 'x')].map((code) =>
    ocr(
      `a language that is none: ${code.slice(0, 20)}`,
      { model: 'tesseract', languages: [code], images: [base64(png)] },
      { status: 400, contains: ['Language'] },
    ),
  ),
  ocr(
    'too many languages',
    { model: 'tesseract', languages: Array.from({ length: 9 }, (_, at) => `x${'abcdefghi'[at]}`), images: [base64(png)] },
    { status: 400 },
  ),
  ocr('text instead of base64', { model: 'paddleocr', images: [base64(png), 'not base64!'] }, { status: 400, contains: ['images[1]'] }),
  ocr(
    'base64 of something else',
    { model: 'paddleocr', images: [base64(png), base64(Buffer.from('<svg xmlns="x"/>'))] },
    { status: 400, contains: ['images[1]'] },
  ),
  ocr(
    'an image that is cut off',
    { model: 'paddleocr', images: [base64(png.subarray(0, png.length - 40))] },
    { status: 400, contains: ['images[0]'] },
  ),
  ocr('an image of 0 bytes', { model: 'paddleocr', images: [''] }, { status: 400, contains: ['images[0]'] }),
  ocr(
    'a bomb of 100,000 x 100,000 pixels',
    { model: 'paddleocr', images: [base64(lyingPng(100_000, 100_000))] },
    {
      status: 400,
      contains: ['100000 x 100000'],
    },
  ),
  ocr('images that are no texts', { images: [1] }, { status: 422, contains: ['images'] }),
  ocr('513 images', { images: new Array(513).fill('aa') }, { status: 422 }),
  {
    name: 'a body of 100 MB',
    method: 'POST',
    path: '/v1/ocr',
    headers: { 'content-type': 'application/json' },
    body: Buffer.alloc(100 * 1024 * 1024, 32),
    status: 413,
  },
  upload('scan.pdf', scan, (id) => {
    fileId = id;
  }),
  upload('note.txt', Buffer.from('x'), (id) => {
    textId = id;
  }),
  {
    ...ocr('pages of a PDF', {}),
    body: () => ({ model: 'paddleocr', file_id: fileId, images: ['ignored'] }),
    json: (body) => {
      assert.deepEqual(
        body.data.map((one: { text: string }) => one.text),
        ['42', '24'],
      );
      assert.deepEqual(body.usage, { images_processed: 2 });
    },
  },
  upload('kept.pdf', scan, (id) => (keptId = id), { convert_pdf: 'false' }),
  {
    ...ocr('a PDF that was not to be converted', {}),
    body: () => ({ file_id: keptId }),
    status: 400,
    contains: ['No images found for file_id', 'Upload it again with convert_pdf=true', 'NoImages'],
    lacks: ['neither PDF'],
  },
  { ...ocr('a file without images', {}), body: () => ({ file_id: textId }), status: 400, contains: ['No images found for file_id'] },
  ocr('an unknown file', { file_id: '../x' }, { status: 404, contains: ['File not found'] }),
];

const DOCUMENTS: Scenario[] = [
  extract('neither images nor file', { model: 'x/y' }, { status: 400 }),
  extract('without a model', { images: [base64(png)] }, { status: 422, contains: ['model'] }),
  extract('task x', { model: 'x/y', task: 'x', images: [base64(png)] }, { status: 400, contains: ['extraction, vqa, classification'] }),
  extract(
    'a model that is not here',
    { model: 'naver-clova-ix/donut-base-finetuned-cord-v2', images: [base64(png)] },
    {
      status: 404,
      contains: ['quern pull naver-clova-ix/donut-base-finetuned-cord-v2', 'ModelNotFound'],
    },
  ),
  extract(
    'a model that is here and of another kind',
    { model: 'someone/embedder', images: [base64(blank)] },
    { status: 400, contains: ['WrongModelType', 'someone/embedder is no document model', 'encoder_model.onnx'] },
  ),
  extract(
    'a model that its name says to look at words and that does not',
    { model: 'someone/layoutlm-of-donut', images: [base64(blank)] },
    { status: 400, contains: ['WrongModelType', 'model.onnx'] },
  ),
  extract(
    'a language model, whose graph is called a decoder too',
    { model: 'someone/writer', images: [base64(blank)] },
    { status: 400, contains: ['WrongModelType', 'has no encoder_model.onnx'] },
  ),
  extract(
    'a model without its decoder',
    { model: 'someone/half-donut', images: [base64(blank)] },
    { status: 404, contains: ['ModelNotFound', 'not found', 'has no decoder_model.onnx', 'quern pull someone/half-donut'] },
  ),
  extract('a model that cannot be a name', { model: '../../etc', images: [base64(png)] }, { status: 400 }),
  extract(
    'fields of a receipt, with computed confidences',
    { model: 'someone/donut-base-finetuned-cord-v2', images: [base64(blank)] },
    {
      json: (body) => {
        const [item] = body.data;
        assert.deepEqual([body.object, body.task, body.usage], ['list', 'extraction', { documents_processed: 1 }]);
        assert.deepEqual(
          item.fields.map((one: { key: string; value: string; bbox: null }) => [one.key, one.value, one.bbox]),
          [
            ['menu.nm', 'tea', null],
            ['menu[1].cnt', 'bun', null],
            ['total', '42', null],
          ],
        );
        // The networks of the test are sure of "tea" and less so of "42".
        assert.ok(
          item.fields[0].confidence > 0.99 && item.fields[2].confidence > 0.6 && item.fields[2].confidence < 0.9,
          JSON.stringify(item.fields),
        );
        assert.ok(item.confidence > item.fields[2].confidence && item.confidence < 1);
        assert.equal(item.text, '<s_menu><s_nm>tea</s_nm><sep/><s_cnt>bun</s_cnt></s_menu><s_total>42</s_total>');
      },
    },
  ),
  ...['someone/donut-halves-docvqa', 'someone/donut-halves-docvqa:FP16'].map((model) =>
    extract(
      `a model with nothing but halves, as ${model}`,
      { model, task: 'vqa', prompts: ['total'], images: [base64(blank)] },
      { json: (body) => assert.equal(body.data[0].answer, '9') },
    ),
  ),
  extract(
    'a format that is not there',
    { model: 'someone/donut-halves-docvqa:Q4', images: [base64(blank)] },
    { status: 404, contains: ['ModelNotFound', 'not found', 'quern pull someone/donut-halves-docvqa:Q4'] },
  ),
  extract(
    'another image gives another value',
    {
      model: 'someone/donut-base-finetuned-cord-v2',
      images: [
        base64(
          await pagePng(64, 64, [
            { text: 'QQQ', x: 0, y: 0, tight: true },
            { text: 'QQQ', x: 0, y: 24, tight: true },
          ]),
        ),
      ],
    },
    {
      json: (body) => assert.equal(body.data[0].fields[2].value, '17'),
    },
  ),
  extract(
    'questions, each to its image',
    { model: 'someone/donut-docvqa', task: 'vqa', images: [base64(blank), base64(blank)], prompts: ['total', 'date'] },
    {
      json: (body) =>
        assert.deepEqual(
          body.data.map((one: { answer: string }) => one.answer),
          ['9', 'today'],
        ),
    },
  ),
  extract(
    'one question for all images',
    { model: 'someone/donut-docvqa', task: 'vqa', images: [base64(blank), base64(blank)], prompts: ['date'] },
    {
      json: (body) =>
        assert.deepEqual(
          body.data.map((one: { answer: string }) => one.answer),
          ['today', 'today'],
        ),
    },
  ),
  extract(
    'more questions than images, of which some would be lost',
    { model: 'someone/donut-docvqa', task: 'vqa', images: [base64(blank)], prompts: ['total', 'date'] },
    { status: 400, contains: ['2 prompts came with 1 image;', 'TooManyPrompts'] },
  ),
  extract(
    'fewer questions than images, for a model that needs each, before any image is looked at',
    { model: 'someone/layoutlm-docvqa', task: 'vqa', images: [base64(textPage), 'AAAA', base64(textPage)], prompts: ['who?', 'who?'] },
    { status: 400, contains: ['question', 'images[2]', 'PromptMissing'] },
  ),
  extract(
    'fewer prompts than images, for a model that needs none',
    { model: 'someone/donut-rvlcdip', images: [base64(blank), base64(blank), base64(blank)], prompts: ['a', 'b'] },
    { json: (body) => assert.equal(body.data.length, 3) },
  ),
  extract(
    'a question with more tokens than the model has positions',
    { model: 'someone/donut-docvqa', task: 'vqa', images: [base64(blank)], prompts: ['total'.repeat(70)] },
    { status: 400, contains: ['64 positions', 'PromptTooLong'] },
  ),
  ...['extraction', 'vqa', 'classification'].map((task) =>
    extract(
      `no empty keys where the model writes nothing: ${task}`,
      { model: 'someone/donut-plain', task, images: [base64(blank)], prompts: ['</s_total>'] },
      { json: (body) => assert.deepEqual(body.data, [{ index: 0, confidence: 0 }]) },
    ),
  ),
  extract(
    'no empty keys for a page without words',
    { model: 'someone/layoutlm-words', images: [base64(blank)] },
    { json: (body) => assert.deepEqual(body.data, [{ index: 0, confidence: 0 }]) },
  ),
  extract(
    'a class, with the probability of each',
    { model: 'someone/donut-rvlcdip', task: 'classification', images: [base64(blank)] },
    {
      json: (body) => {
        const [item] = body.data;
        assert.equal(item.classification, 'invoice');
        assert.deepEqual(Object.keys(item.classification_scores).sort(), ['invoice', 'letter']);
        assert.equal(item.classification_scores.invoice, item.confidence);
        assert.ok(item.confidence > 0.6 && item.confidence < 0.9 && item.classification_scores.letter > 0.1);
      },
    },
  ),
  extract(
    'no question for a model that needs one',
    { model: 'someone/layoutlm-docvqa', task: 'vqa', images: [base64(blank)] },
    { status: 400, contains: ['question'] },
  ),
  extract(
    'a page without words has no answer',
    { model: 'someone/layoutlm-docvqa', task: 'vqa', prompts: ['who?'], images: [base64(blank)] },
    {
      json: (body) => assert.deepEqual([body.data[0].answer, body.data[0].confidence], ['[No answer found]', 0]),
    },
  ),
  extract(
    'the words between start and end',
    { model: 'someone/layoutlm-docvqa', task: 'vqa', prompts: ['who?'], images: [base64(textPage)] },
    {
      json: (body) => {
        assert.equal(body.data[0].answer, 'Quern mill');
        assert.ok(body.data[0].confidence > 0.3 && body.data[0].confidence < 1);
      },
    },
  ),
  extract(
    'words with labels',
    { model: 'someone/layoutlm-words', images: [base64(textPage)] },
    {
      json: (body) => {
        const [field] = body.data[0].fields;
        assert.deepEqual([field.key, field.value, body.data[0].fields.length], ['NAME', 'Quern mill', 1]);
        assert.equal(field.bbox.length, 4);
        assert.ok(field.bbox[0] < field.bbox[2] && field.confidence > 0.5 && field.confidence < 1);
      },
    },
  ),
  extract(
    'the class of a page',
    { model: 'someone/layoutlm-pages', task: 'classification', images: [base64(textPage)] },
    {
      json: (body) =>
        assert.deepEqual([body.data[0].classification, Object.keys(body.data[0].classification_scores)], ['report', ['form', 'report']]),
    },
  ),
  extract(
    'a task that the model has no head for',
    { model: 'someone/layoutlm-pages', images: [base64(blank)] },
    { status: 400, contains: ['whole pages'] },
  ),
];

const CORE: Scenario[] = [
  form('81 neither file nor images', 'ocr', [[], { model: 'paddleocr' }], { status: 400 }),
  form('81 an extension that is not read', 'ocr', [[['file', 'a.exe', png]]], { status: 400, contains: ['.pdf', '.tif'] }),
  form('81 extract with task x', 'documents/extract', [[['file', 'a.png', png]], { model: 'm', task: 'x' }], { status: 400 }),
  form('81 extract without a model', 'documents/extract', [[['file', 'a.png', png]]], { status: 422, contains: ['model'] }),
  form('an image', 'ocr', [[['file', 'a.png', png]], { model: 'paddleocr', return_boxes: 'true' }], {
    json: (body) => assert.deepEqual([body.data[0].text, body.data[0].boxes.length, body.usage], ['QUERN', 1, { images_processed: 1 }]),
  }),
  form('pages of a PDF as one', 'ocr', [[['file', 'scan.PDF', scan]], { model: 'paddleocr' }], {
    json: (body) => {
      assert.deepEqual([body.data.length, body.data[0].text], [1, '42\n\n24']);
      assert.deepEqual(body.usage, { images_processed: 2, pages_combined: 2 });
    },
  }),
  form('pages of a PDF one by one', 'ocr', [[['file', 'scan.pdf', scan]], { model: 'paddleocr', parse_by_page: 'true' }], {
    json: (body) =>
      assert.deepEqual([body.data.map((one: { text: string }) => one.text), body.usage], [['42', '24'], { images_processed: 2 }]),
  }),
  form('a text where a boolean is asked for', 'ocr', [[['file', 'a.png', png]], { model: 'paddleocr', parse_by_page: 'each' }], {
    status: 422,
    contains: ['["body","parse_by_page"]', 'boolean'],
  }),
  form('images as a JSON array', 'ocr', [[], { model: 'paddleocr', images: JSON.stringify([base64(png), base64(other)]) }], {
    json: (body) =>
      assert.deepEqual(
        body.data.map((one: { text: string }) => one.text),
        ['QUERN', '42'],
      ),
  }),
  form('images as one data URI', 'ocr', [[], { model: 'paddleocr', images: `data:image/png;base64,${base64(other)}` }], {
    json: (body) => assert.equal(body.data[0].text, '42'),
  }),
  form('an empty JSON array', 'ocr', [[], { images: '[]' }], { status: 400 }),
  form('an array with numbers', 'ocr', [[], { images: '[1]' }], { status: 400 }),
  form('a file of 0 bytes', 'ocr', [[['file', 'a.png', Buffer.alloc(0)]], { model: 'paddleocr' }], { status: 400, contains: ['empty'] }),
  form('a PDF that is none', 'ocr', [[['file', 'a.pdf', png]], { model: 'paddleocr' }], { status: 400, contains: ['a.pdf'] }),
  form('an image that is none', 'ocr', [[['file', 'a.png', Buffer.from('x')]], { model: 'paddleocr' }], {
    status: 400,
    contains: ['a.png'],
  }),
  form('an unknown engine', 'ocr', [[['file', 'a.png', png]], { model: 'paper' }], { status: 400 }),
  form('an engine without weights', 'ocr', [[['file', 'a.png', png]], { model: 'easyocr' }], {
    status: 404,
    contains: ['quern pull', '/v1/models/download'],
  }),
  form('fields', 'documents/extract', [[['file', 'a.png', blank]], { model: 'someone/donut-base-finetuned-cord-v2' }], {
    json: (body) => assert.equal(body.data[0].fields.length, 3),
  }),
  form(
    'questions with commas',
    'documents/extract',
    [[], { model: 'someone/donut-docvqa', task: 'vqa', prompts: 'total, date', images: JSON.stringify([base64(blank), base64(blank)]) }],
    {
      json: (body) =>
        assert.deepEqual(
          body.data.map((one: { answer: string }) => one.answer),
          ['9', 'today'],
        ),
    },
  ),
  form(
    'more questions than pages',
    'documents/extract',
    [[['file', 'scan.pdf', scan]], { model: 'someone/donut-docvqa', task: 'vqa', prompts: 'total, date, total' }],
    { status: 400, contains: ['3 prompts came with 2 images', 'TooManyPrompts'] },
  ),
  // The model sees the word "date" where it stands alone, without spaces or behind a tag.
  ...['What is the total, tax included?<sep/>date', ' date '].map((prompts) =>
    form(
      `one page and the whole text as its question: ${prompts}`,
      'documents/extract',
      [[['file', 'a.png', blank]], { model: 'someone/donut-docvqa', task: 'vqa', prompts }],
      { json: (body) => assert.deepEqual([body.data.length, body.data[0].answer], [1, 'today']) },
    ),
  ),
  form(
    'one page and a question of spaces',
    'documents/extract',
    [[['file', 'a.png', textPage]], { model: 'someone/layoutlm-docvqa', task: 'vqa', prompts: '  ' }],
    { status: 400, contains: ['PromptMissing'] },
  ),
  { name: 'core: nothing is left among the files', path: '/v1/files', json: (body) => assert.equal(body.data.length, 3) },
];

scenarios<VisionStage>(
  'OCR and documents',
  {
    endpoints: [...fileEndpoints, ...visionEndpoints, ...coreVisionEndpoints] as Endpoint<VisionStage>[],
    context: () => openVisionStage(dataDir),
    close: (open) => open.close(),
  },
  [...OCR, ...DOCUMENTS, ...CORE],
);
