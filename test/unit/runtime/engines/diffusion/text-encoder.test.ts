import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { PipelineFolder } from '../../../../../runtime/engines/diffusion/pipeline-folder.js';
import { TextEncoder } from '../../../../../runtime/engines/diffusion/text-encoder.js';
import type { OnnxSession, Tensor } from '../../../../../runtime/engines/onnx/contract.js';
import { clipFiles } from '../../../../support/models/tiny-diffusion/tokenizer.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-text-encoder-'));
after(() => rmSync(folder, { recursive: true }));
const { vocab, merges } = clipFiles(['red']);
const [START, END, RED] = [vocab['<|startoftext|>']!, vocab['<|endoftext|>']!, vocab['red</w>']!];
const [BANG, BANG_AT_END] = [vocab['!']!, vocab['!</w>']!];
let count = 0;

/** The numbers that a prompt becomes, eight of them, by the settings of a tokenizer. */
async function idsOf(prompt: string, config: object, map?: object, definition?: object): Promise<number[]> {
  count += 1;
  const part = join(folder, String(count), 'tokenizer');
  mkdirSync(part, { recursive: true });
  writeFileSync(join(part, 'vocab.json'), JSON.stringify(vocab));
  writeFileSync(join(part, 'merges.txt'), merges);
  writeFileSync(join(part, 'tokenizer_config.json'), JSON.stringify({ model_max_length: 8, ...config }));
  if (map) writeFileSync(join(part, 'special_tokens_map.json'), JSON.stringify(map));
  if (definition) writeFileSync(join(part, 'tokenizer.json'), JSON.stringify(definition));
  let ids: number[] = [];
  const session = {
    inputs: [{ name: 'input_ids', type: 'int64', dims: ['batch', 'length'] }],
    outputs: [{ name: 'last_hidden_state', type: 'float32', dims: ['batch', 'length', 1] }],
    run: async ({ input_ids }: Record<string, Tensor>) => {
      ids = Array.from(input_ids!.data as BigInt64Array, Number);
      return { last_hidden_state: { type: 'float32', dims: [1, ids.length, 1], data: new Float32Array(ids.length) } };
    },
  } as unknown as OnnxSession;
  await new TextEncoder(new PipelineFolder(join(folder, String(count)), 'x', null), session, '', false).encode(prompt);
  return ids;
}

const ENDS = [END, END, END, END];
const BANGS = [BANG, BANG, BANG, BANG];
// What CLIPTokenizer of transformers 5.23.0 makes of the same files.
const cases: [name: string, prompt: string, config: object, map: object | undefined, ids: number[]][] = [
  ['fills up with the end where nothing is said', 'red!', {}, undefined, [START, RED, BANG_AT_END, END, ...ENDS]],
  ['takes no settings at all for none', 'red', { pad_token: null }, undefined, [START, RED, END, END, ...ENDS]],
  ['fills up with the word that is named', 'red', { pad_token: '!' }, undefined, [START, RED, END, BANG, ...BANGS]],
  [
    'takes that word for the filling in the prompt too',
    'red!',
    { pad_token: { content: '!' } },
    undefined,
    [START, RED, BANG, END, ...BANGS],
  ],
  [
    'follows the map of special tokens beside files of the old form',
    'red',
    { pad_token: '<|endoftext|>' },
    { pad_token: '!' },
    [START, RED, END, BANG, ...BANGS],
  ],
  [
    'takes nothing else from the map',
    'red',
    {},
    { pad_token: '!', model_max_length: 5, truncation_side: 'left' },
    [START, RED, END, BANG, ...BANGS],
  ],
  [
    'looks past the map where added tokens are listed',
    'red',
    { pad_token: '<|endoftext|>', added_tokens_decoder: {} },
    { pad_token: '!' },
    [START, RED, END, END, ...ENDS],
  ],
];
for (const [name, prompt, config, map, ids] of cases) it(name, async () => assert.deepEqual(await idsOf(prompt, config, map), ids));

const wrong: [name: string, config: object, map: object | undefined, definition: object | undefined, message: RegExp][] = [
  ['a number that fills up', { pad_token: { content: 5 } }, undefined, undefined, /names 5 as pad_token; a word is needed/],
  ['a list that fills up', {}, { pad_token: { content: [] } }, undefined, /names a list as pad_token/],
  [
    'no token among the added ones',
    {},
    undefined,
    { model: { vocab }, added_tokens: [null] },
    /tokenizer\.json has null among its added_tokens/,
  ],
];
for (const [name, config, map, definition, message] of wrong) {
  it(`refuses ${name}`, () =>
    assert.rejects(idsOf('red', config, map, definition), { kind: 'invalid', code: 'InvalidModelFile', message }));
}
