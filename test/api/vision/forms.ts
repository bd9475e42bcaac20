import assert from 'node:assert/strict';
import type { Scenario } from '../../support/scenario.js';
import { base64, blank, form, other, png, scan, textPage } from '../../support/vision/pages.js';

/** The same by forms with files, as the core takes them. */
export const CORE: Scenario[] = [
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
