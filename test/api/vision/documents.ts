import assert from 'node:assert/strict';
import type { Scenario } from '../../support/scenario.js';
import { pagePng } from '../../support/vision/glyphs.js';
import { base64, blank, extract, png, textPage } from '../../support/vision/pages.js';

/** Fields, answers and classes of pages. */
export const DOCUMENTS: Scenario[] = [
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
