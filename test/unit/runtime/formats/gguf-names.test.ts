import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseFile, quantisationOf } from '../../../../runtime/formats/gguf-names.js';
import { parseName, splitName } from '../../../../runtime/models/find/names.js';
import { processorMs } from '../../../support/processor-time.js';

describe('model names', () => {
  const split: [string, string, string | null, boolean][] = [
    ['unsloth/Qwen3-4B-GGUF:q8_0', 'unsloth/Qwen3-4B-GGUF', 'Q8_0', false],
    ['org:user/model:Q4_K_M', 'org:user/model', 'Q4_K_M', false],
    ['x:', 'x', null, false],
    ['hf.co/org/repo:q4_k_m', 'org/repo', 'Q4_K_M', false],
    ['huggingface.co/org/repo', 'org/repo', null, false],
    ['https://huggingface.co/org/repo:Q8_0', 'org/repo', 'Q8_0', false],
    ['org/repo:latest', 'org/repo', null, false],
    ['hf://org/repo:Q8_0', 'org/repo', 'Q8_0', false],
    ['hf.co/repo', 'hf.co/repo', null, false],
    ['x', 'x', null, false],
    ['/models/a:b/c.gguf', '/models/a:b/c.gguf', null, true],
    ['sub/c.GGUF', 'sub/c.GGUF', null, true],
  ];
  for (const [name, id, quantisation, isPath] of split) {
    it(`splits ${name}`, () => assert.deepEqual(splitName(name), { id, quantisation, isPath }));
  }

  const hostile = [
    '',
    '..',
    '../x',
    'a/../b',
    'a/b/c',
    'hf.co/a/b/c',
    '.',
    './b',
    'a/.',
    'a/.:Q8_0',
    'hf.co/../b',
    'hf.co//b',
    'https://other.example/a/b',
    '/etc/passwd',
    '\\\\host\\share',
    'a/b\u0000',
    '%2e%2e/x',
    'a b',
    'ａ/b',
    'org:user/model:Q4_K_M',
    'a/b:Q 4',
    'x'.repeat(2000),
    'a\nb',
    '/a',
    'a/',
    'org--repo',
    'org/re--po',
    'a-/b',
    'a/-b',
  ];
  for (const name of hostile) {
    it(`refuses ${JSON.stringify(name.slice(0, 40))}`, () =>
      assert.throws(() => parseName(name), { kind: 'bad_request', code: 'InvalidModelName' }));
  }
});

describe('quantisations', () => {
  const names: [string, string | null][] = [
    ['model.q4_k_m.gguf', 'Q4_K_M'],
    ['model.gguf', null],
    ['llama-3.2-3b.F16.gguf', 'F16'],
    ['a-BF16.gguf', 'BF16'],
    ['a-Q6_K.gguf', 'Q6_K'],
    ['a-Q2_K.gguf', 'Q2_K'],
    ['a-Q4_K_XL.gguf', 'Q4_K_XL'],
    ['a-UD-Q4_K_XL.gguf', 'UD-Q4_K_XL'],
    ['a-IQ4_NL.gguf', 'IQ4_NL'],
    ['a-IQ3_XXS.gguf', 'IQ3_XXS'],
    ['a-UD-IQ2_M.gguf', 'UD-IQ2_M'],
    ['a.i1-IQ1_S.gguf', 'IQ1_S'],
    ['gpt-oss-20b-MXFP4.gguf', 'MXFP4'],
    ['a-TQ1_0.gguf', 'TQ1_0'],
    ['a-Q8_0-00001-of-00003.gguf', 'Q8_0'],
    ['Q8_0/a-00001-of-00002.gguf', 'Q8_0'],
    ['a-UD-IQ2_M/model.gguf', 'UD-IQ2_M'],
    ['Foo-BF16-GGUF/model.gguf', null],
    ['Q8_0/a-Q4_0.gguf', 'Q4_0'],
    ['Phi-3-mini-4k-instruct-q4.gguf', 'Q4'],
    ['q4-lover.gguf', null],
    ['F16-lover-Q5_K_S.gguf', 'Q5_K_S'],
    ['a-Q4_0_4_4.gguf', 'Q4_0_4_4'],
    ['a.q4_0_4_8.gguf', 'Q4_0_4_8'],
    ['a-Q4_0_8_8-00001-of-00002.gguf', 'Q4_0_8_8'],
  ];
  for (const [file, wanted] of names) it(`reads ${file}`, () => assert.equal(quantisationOf(file), wanted));

  const of = (...quants: string[]): string[] => quants.map((quant) => `m-${quant}.gguf`);
  const choices: [string, string[], string | null, string | undefined, boolean][] = [
    ['the only file', of('Q8_0'), null, 'm-Q8_0.gguf', false],
    ['the best known', of('Q2_K', 'Q4_K_M', 'Q8_0', 'F16'), null, 'm-Q4_K_M.gguf', false],
    ['the best known where the wanted is missing, with a note', of('Q4_K_M', 'Q8_0'), 'F16', 'm-Q4_K_M.gguf', true],
    ['Q5_K_M before Q8_0', of('Q8_0', 'Q5_K_M', 'F16'), null, 'm-Q5_K_M.gguf', false],
    ['Q8_0 before F16 and Q2_K', of('Q8_0', 'F16', 'Q2_K'), null, 'm-Q8_0.gguf', false],
    ['the first of unnamed ones', ['b.gguf', 'c.gguf'], null, 'b.gguf', false],
    ['the wanted one', of('Q4_K_M', 'BF16', 'F16'), 'BF16', 'm-BF16.gguf', false],
    ['a UD file for its plain name', of('Q8_0', 'UD-Q4_K_XL'), 'Q4_K_XL', 'm-UD-Q4_K_XL.gguf', false],
    ['no projector', ['mmproj-F16.gguf', 'm-F16.gguf'], null, 'm-F16.gguf', false],
    ['no importance matrix', ['Foo-imatrix.gguf', 'Foo-Q2_K.gguf', 'Foo-Q3_K_S.gguf'], null, 'Foo-Q2_K.gguf', false],
    ['the only file beside an importance matrix', ['M.imatrix.gguf', 'M.gguf', 'imatrix.gguf'], null, 'M.gguf', false],
    [
      'no importance matrix that names what it was measured with',
      ['a-BF16.imatrix.gguf', 'imatrix-a-F16.gguf', 'a.gguf'],
      'F16',
      'a.gguf',
      true,
    ],
    [
      'a file that was made with an importance matrix',
      ['Foo-imatrix-Q4_K_M.gguf', 'Foo-imatrix.gguf'],
      null,
      'Foo-imatrix-Q4_K_M.gguf',
      false,
    ],
    ['such a file that says so at its end', ['Foo-Q4_K_M-imatrix.gguf'], null, 'Foo-Q4_K_M-imatrix.gguf', false],
    ['a model of that name', ['imatrixer-7b.gguf', 'imatrix_unsloth.gguf'], null, 'imatrixer-7b.gguf', false],
    ['nothing of importance matrices', ['Foo-imatrix.gguf', 'Foo-imatrix-00001-of-00002.gguf'], null, undefined, false],
    ['the first shard', ['m-Q4_K_M-00002-of-00002.gguf', 'm-Q4_K_M-00001-of-00002.gguf'], null, 'm-Q4_K_M-00001-of-00002.gguf', false],
    [
      'a split file where only that is wanted',
      ['m-Q8_0.gguf', 'm-BF16-00001-of-00002.gguf', 'm-BF16-00002-of-00002.gguf'],
      'BF16',
      'm-BF16-00001-of-00002.gguf',
      false,
    ],
    ['a whole file before a split one', ['m-Q4_K_M-00001-of-00002.gguf', 'm-Q8_0.gguf'], null, 'm-Q8_0.gguf', false],
    ['no repacked file for the type that it is made from', of('Q4_0_4_4', 'Q4_0'), 'Q4_0', 'm-Q4_0.gguf', false],
    ['no repacked file in the place of what is missing', of('Q4_0_4_4', 'Q4_0_8_8', 'Q4_1'), 'Q4_0', 'm-Q4_1.gguf', true],
    ['no repacked file by itself', of('Q4_0_4_4', 'Q4_0_4_8', 'IQ4_NL'), null, 'm-IQ4_NL.gguf', false],
    [
      'a split file before a repacked one',
      ['m-Q4_0_4_4.gguf', 'm-Q4_0-00001-of-00002.gguf', 'm-Q4_0-00002-of-00002.gguf'],
      null,
      'm-Q4_0-00001-of-00002.gguf',
      false,
    ],
    ['a repacked file when it is wanted', of('Q4_0', 'Q4_0_4_8', 'Q4_0_8_8'), 'Q4_0_8_8', 'm-Q4_0_8_8.gguf', false],
    ['a repacked file where there is no other', of('Q4_0_4_4', 'Q4_0_4_8'), null, 'm-Q4_0_4_4.gguf', false],
    ['half precision by its other name', of('Q4_K_M', 'fp16'), 'F16', 'm-fp16.gguf', false],
    ['single precision by its other name', of('F32', 'Q4_K_M'), 'FP32', 'm-F32.gguf', false],
    ['the best of what goes on from a short name', of('Q4_K_M', 'Q5_0', 'Q5_K_S', 'Q5_K_M'), 'Q5', 'm-Q5_K_M.gguf', false],
    ['the only one that goes on from a name', of('Q4_K_M', 'Q6_K_L'), 'Q6_K', 'm-Q6_K_L.gguf', false],
    ['a split one that goes on from a name', ['m-Q4_K_M.gguf', 'm-Q8_0-00001-of-00002.gguf'], 'Q8', 'm-Q8_0-00001-of-00002.gguf', false],
    ['a dynamic one for a short dynamic name', of('Q2_K_L', 'UD-Q2_K_XL', 'Q4_K_M'), 'UD-Q2_K', 'm-UD-Q2_K_XL.gguf', false],
    ['no plain one for a dynamic one without saying so', of('Q2_K', 'Q4_K_M'), 'UD-Q2_K', 'm-Q4_K_M.gguf', true],
    ['nothing repacked for a short name', of('Q4_0_4_4', 'Q5_K_M'), 'Q4', 'm-Q5_K_M.gguf', true],
    ['one made with an importance matrix that says so', ['m.i1-Q4_K_M.gguf', 'm.i1-Q6_K.gguf'], 'I1-Q6_K', 'm.i1-Q6_K.gguf', false],
    ['by the bits alone', ['m-fp16.gguf', 'm-q4.gguf'], 'Q4', 'm-q4.gguf', false],
    ['the specified ones before bits alone', ['m-q4.gguf', 'm-Q5_K_M.gguf'], null, 'm-Q5_K_M.gguf', false],
    ['bits alone before floats that are not specified', ['m-BF16.gguf', 'm-q4.gguf'], null, 'm-q4.gguf', false],
    ['bits alone for the plain type', ['m-q4.gguf', 'm-q8.gguf', 'm-f16.gguf'], 'Q8_0', 'm-q8.gguf', false],
    ['the plain type before bits alone', ['m-q4.gguf', 'm-Q4_0.gguf'], 'Q4_0', 'm-Q4_0.gguf', false],
    ['the model beside a matrix with bits alone', ['imatrix-q8.gguf', 'm.gguf'], null, 'm.gguf', false],
    ['four bits before others that are not usual either', of('BF16', 'F32', 'IQ2_M', 'Q4_0', 'TQ1_0'), null, 'm-Q4_0.gguf', false],
    ['dynamic ones as plain ones', of('BF16', 'Q8_0', 'UD-IQ1_S', 'UD-Q4_K_M'), null, 'm-UD-Q4_K_M.gguf', false],
    ['what is complete', ['m-Q4_K_M-00001-of-00002.gguf', 'm-Q8_0-00001-of-00001.gguf'], null, 'm-Q8_0-00001-of-00001.gguf', false],
    [
      'what is wanted though parts are missing',
      ['m-Q4_K_M-00001-of-00002.gguf', 'm-Q8_0.gguf'],
      'Q4_K_M',
      'm-Q4_K_M-00001-of-00002.gguf',
      false,
    ],
    ['by the folder', ['Q4_K_M/m.gguf', 'Q8_0/m.gguf'], 'Q8_0', 'Q8_0/m.gguf', false],
    ['no importance matrix in a folder of a quantisation', ['Q4_K_M/imatrix.gguf', 'Q4_K_M/m.gguf'], null, 'Q4_K_M/m.gguf', false],
    ['nothing of nothing', [], 'Q8_0', undefined, false],
  ];
  for (const [name, files, wanted, file, noted] of choices) {
    it(`chooses ${name}`, () => {
      const choice = chooseFile(files, wanted);
      assert.equal(choice?.file, file);
      assert.equal(Boolean(choice?.note), noted);
    });
  }

  it('are chosen of as many files as are listed without holding up everything else', () => {
    const files = Array.from({ length: 10_000 }, (_, index) => `m${index}-Q5_1-00001-of-00002.gguf`);
    const ms = processorMs(() => assert.equal(chooseFile([...files, 'm-Q4_K_M.gguf'], 'Q6_K')?.file, 'm-Q4_K_M.gguf'));
    assert.ok(ms < 4000, `${ms} ms`);
  });
});
