import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startText, taggedValues } from '../../../../../runtime/engines/documents/donut.js';
import { answerOf, classOf, fieldsOf } from '../../../../../runtime/engines/documents/layout.js';
import { decoderSettings, imageSettings, labelsOf } from '../../../../../runtime/engines/image-text/settings.js';

const values = (text: string): string[] => taggedValues(text).map(({ key, value }) => `${key}=${value}`);
const word = (text: string, x1 = 0) => ({ text, x1, y1: 0, x2: x1 + 10, y2: 10, confidence: 1 });
const laid = (wordOf: number[]) => ({ ids: wordOf.map(() => 0), types: [], boxes: [], wordOf });

describe('values between tags', () => {
  const table: [text: string, ...expected: string[]][] = [
    [''],
    ['plain text'],
    ['<s_total>42</s_total>', 'total=42'],
    ['<s_a> x </s_a><s_b>y</s_b>', 'a=x', 'b=y'],
    ['<s_menu><s_nm>tea</s_nm><s_price>2</s_price></s_menu>', 'menu.nm=tea', 'menu.price=2'],
    ['<s_menu><s_nm>tea</s_nm><sep/><s_nm>bun</s_nm></s_menu>', 'menu.nm=tea', 'menu[1].nm=bun'],
    ['<s_list>a<sep/>b<sep/>c</s_list>', 'list=a', 'list[1]=b', 'list[2]=c'],
    ['<s_a>x', 'a=x'],
    ['<s_a><s_b>x</s_a><s_c>y</s_c>', 'a.b=x', 'c=y'],
    ['</s_a>x<sep/>'],
    ['<s_a></s_a>'],
  ];
  for (const [text, ...expected] of table) it(JSON.stringify(text), () => assert.deepEqual(values(text), expected));

  it('stand where they stand in the text', () => {
    const text = '<s_a>  one </s_a>';
    const [found] = taggedValues(text);
    assert.equal(text.slice(found!.start, found!.end), 'one');
  });

  it('of a thousand groups inside each other take no time', () => {
    const text = '<s_a>'.repeat(100_000);
    assert.deepEqual(taggedValues(text), []);
  });
});

describe('what a decoder is begun with', () => {
  const table: [model: string, prompt: string | null, start: string][] = [
    ['x/donut-base-finetuned-docvqa', 'who?', '<s_docvqa><s_question>who?</s_question><s_answer>'],
    ['x/donut-base-finetuned-cord-v2', 'ignored', '<s_cord-v2>'],
    ['x/donut-rvlcdip', null, '<s_rvlcdip>'],
    ['x/donut-zhtrainticket', null, '<s_zhtrainticket>'],
    ['x/synthdog', null, '<s_synthdog>'],
    ['x/other', '<s_mine>', '<s_mine>'],
    ['x/other', null, '<s>'],
  ];
  for (const [model, prompt, start] of table) it(`${model} with ${prompt}`, () => assert.equal(startText(model, prompt), start));
});

describe('heads of layout models', () => {
  const words = [word('The'), word('old', 20), word('mill', 40)];

  it('answer with the words between start and end, also where these are reversed', () => {
    const [first, last] = [Float32Array.of(0, 0, 5, 0, 0), Float32Array.of(0, 0, 0, 5, 0)];
    for (const [start, end] of [
      [first, last],
      [last, first],
    ] as const) {
      const answer = answerOf(start, end, laid([-1, 0, 1, 2, -1]), words);
      assert.equal(answer.answer, 'old mill');
      assert.ok(Math.abs(answer.confidence - Math.exp(5) / (Math.exp(5) + 4)) < 1e-6);
    }
  });

  it('have no answer outside the words', () => {
    assert.deepEqual(answerOf(Float32Array.of(9, 0), Float32Array.of(9, 0), laid([-1, 0]), words), {
      confidence: 0,
      answer: '[No answer found]',
    });
  });

  it('join neighbouring words of a label, from the first token of each', () => {
    const labels = ['O', 'B-X', 'I-X', 'TOTAL'];
    const row = (best: number): number[] => labels.map((_, at) => (at === best ? 6 : 0));
    const logits = Float32Array.from([row(0), row(1), row(0), row(2), row(3), row(0)].flat());
    const { fields } = fieldsOf(logits, labels, laid([-1, 0, 0, 1, 2, -1]), words);
    assert.deepEqual(
      fields!.map(({ key, value, bbox }) => [key, value, bbox]),
      [
        ['X', 'The old', [0, 0, 30, 10]],
        ['TOTAL', 'mill', [40, 0, 50, 10]],
      ],
    );
  });

  it('give every class its probability', () => {
    const { classification, confidence, classificationScores } = classOf(Float32Array.of(0, 1), ['a', 'b']);
    assert.equal(classification, 'b');
    assert.equal(classificationScores!.b, confidence);
    assert.ok(Math.abs(classificationScores!.a! + classificationScores!.b! - 1) < 1e-9);
  });
});

describe('settings beside a model', () => {
  it('come from the first file that has them, and within bounds', () => {
    assert.deepEqual(decoderSettings({ decoder: { eos_token_id: 5, max_position_embeddings: 1e9 } }, { decoder_start_token_id: 7 }), {
      startId: 7,
      endId: 5,
      padId: 1,
      maxLength: 2048,
    });
    assert.deepEqual(decoderSettings(), { startId: 0, endId: 2, padId: 1, maxLength: 512 });
  });

  it('know the forms in which sizes are written', () => {
    for (const size of [{ height: 20, width: 30 }, [30, 20]]) {
      const { width, height } = imageSettings({ size });
      assert.deepEqual([width, height], [30, 20]);
    }
    assert.equal(imageSettings({ size: { shortest_edge: 9 } }).width, 9);
    assert.deepEqual([imageSettings({ do_thumbnail: true }).fit, imageSettings({}, { width: 5, height: 6 }).height], [true, 6]);
    assert.deepEqual(labelsOf({ id2label: { 0: 'a' } }, 2), ['a', '1']);
    assert.equal(imageSettings({ size: { height: null, shortest_edge: 4096 } }).height, 4096);
  });

  it('have sizes that an image can have, or are refused by file, field and value', () => {
    const table: [size: unknown, field: string, shown: string][] = [
      [{ height: 1_000_000, width: 32 }, 'size.height', '1000000'],
      [{ height: 32, width: -3 }, 'size.width', '-3'],
      [{ height: 0, width: 32 }, 'size.height', '0'],
      [{ shortest_edge: 30.5 }, 'size.shortest_edge', '30.5'],
      [{ height: 'tall', width: 32 }, 'size.height', '"tall"'],
      [[20_000, 32], 'size[0]', '20000'],
      [[32, 4097], 'size[1]', '4097'],
      [1e300, 'size', '1e+300'],
    ];
    for (const [size, field, shown] of table)
      assert.throws(() => imageSettings({ size }), {
        kind: 'invalid',
        code: 'InvalidModelFile',
        message: `${field} in preprocessor_config.json is ${shown}; it must be a whole number from 1 to 4096.`,
      });
    assert.equal(imageSettings({ size: 1e300 }, { width: 5, height: 6 }).width, 5);
  });
});
