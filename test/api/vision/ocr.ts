import assert from 'node:assert/strict';
import type { Scenario } from '../../support/scenario.js';
import { page } from '../../support/vision/glyphs.js';
import { base64, blank, line, ocr, other, png, scan, upload } from '../../support/vision/pages.js';
import { bmpOf, lyingPng } from '../../support/vision/pictures.js';

let fileId = '';
let textId = '';
let keptId = '';

/** Text in images and in uploaded files. */
export const OCR: Scenario[] = [
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
