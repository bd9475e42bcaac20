import { join } from 'node:path';
import { floats, integers, type OnnxTensor, writeOnnx } from '../models/writers/onnx-writer.js';
import { wordPiece } from '../models/writers/tokenizer-writer.js';
import { node, writeFiles } from './networks.js';
import { lettersTokenizer } from './tokenizers.js';

const SIDE = 32;
/** Logit of a token that surely follows. */
const SURE = 12;

const VOCABULARY = [
  '<pad>',
  '<s>',
  '</s>',
  '<unk>',
  '<s_cord-v2>',
  '<s_docvqa>',
  '<s_rvlcdip>',
  '<s_question>',
  '</s_question>',
  '<s_answer>',
  '</s_answer>',
  '<s_menu>',
  '</s_menu>',
  '<s_nm>',
  '</s_nm>',
  '<s_cnt>',
  '</s_cnt>',
  '<sep/>',
  '<s_total>',
  '</s_total>',
  '<s_class>',
  '</s_class>',
  '<invoice/>',
  '<letter/>',
  'tea',
  'bun',
  '42',
  '17',
  '9',
  'today',
  'total',
  'date',
];
const TAGS = VOCABULARY.filter((token) => token.startsWith('<'));
const SIZE = VOCABULARY.length;
const id = (token: string): number => VOCABULARY.indexOf(token);

/** A table `[last, next]` of logits. */
function table(name: string, entries: readonly (readonly [last: string, next: string, logit: number])[]): OnnxTensor {
  const values = new Float32Array(SIZE * SIZE);
  for (const [last, next, logit] of entries) values[id(last) * SIZE + id(next)] = logit;
  return floats(name, [SIZE, SIZE], values);
}

/** What follows a token, whatever was seen. */
const FOLLOWS = table('follows', [
  ...[
    '<s_cord-v2> <s_menu> <s_nm> tea </s_nm> <sep/> <s_cnt> bun </s_cnt> </s_menu> <s_total>',
    '42 </s_total> </s>',
    '17 </s_total>',
    '<s_answer> 9 </s_answer> </s>',
    'today </s_answer>',
    '<s_rvlcdip> <s_class> <invoice/> </s_class> </s>',
  ].flatMap((chain) => chain.split(' ').flatMap((last, at, all) => (at + 1 < all.length ? [[last, all[at + 1]!, SURE] as const] : []))),
  ['<s_total>', '42', SURE],
  ['<s_total>', '17', SURE],
  ['<s_class>', '<letter/>', SURE - 1],
]);
/** What a bright image adds, and a dark one takes away. */
const BY_LIGHT = table('by_light', [
  ['<s_total>', '42', 0.6],
  ['<s_total>', '17', -0.6],
]);
/** What the word "date" adds wherever it stood before. */
const BY_DATE = table('by_date', [['<s_answer>', 'today', 2 * SURE]]);

/** Sees nothing but how bright an image is: `[1, 3, 32, 32]` -> `[1, 1, 1]`. */
function brightness(): Uint8Array {
  return writeOnnx({
    nodes: [
      node('ReduceMean', ['pixel_values'], 'mean', { axes: { ints: [1, 2, 3] }, keepdims: { int: 0 } }),
      node('Reshape', ['mean', 'shape'], 'last_hidden_state'),
    ],
    initializers: [integers('shape', [1, 1, 1])],
    inputs: [{ name: 'pixel_values', type: 'float32', dims: ['batch', 3, SIDE, SIDE] }],
    outputs: [{ name: 'last_hidden_state', type: 'float32', dims: ['batch', 1, 1] }],
  });
}

const MEMORY = 'decoder.key';
const value = (name: string, ...dims: (number | string)[]) => ({ name, type: 'float32', dims }) as const;

/**
 * Writes by the tables above. `whole` takes all tokens each time, `first` begins and `later` goes on with a memory of the tokens before,
 * `merged` does both. The word "date" is found in the tokens or in the memory.
 */
function decoder(kind: 'whole' | 'first' | 'later' | 'merged'): Uint8Array {
  const remembers = kind === 'later' || kind === 'merged';
  const before = value(`past_key_values.0.${MEMORY}`, 'batch', 1, 'before', 1);
  return writeOnnx({
    nodes: [
      node('Cast', ['input_ids'], 'numbers', { to: { int: 1 } }),
      node('Unsqueeze', ['numbers', 'places'], 'own'),
      remembers
        ? node('Concat', [before.name, 'own'], `present.0.${MEMORY}`, { axis: { int: 2 } })
        : node('Identity', ['own'], `present.0.${MEMORY}`),
      node('Equal', [`present.0.${MEMORY}`, 'date'], 'same'),
      node('Cast', ['same'], 'sames', { to: { int: 1 } }),
      node('ReduceMax', ['sames'], 'asked', { axes: { ints: [1, 2, 3] }, keepdims: { int: 0 } }),
      node('Gather', ['follows', 'input_ids'], 'next'),
      node('Gather', ['by_light', 'input_ids'], 'light'),
      node('Gather', ['by_date', 'input_ids'], 'dates'),
      node('Mul', ['light', 'encoder_hidden_states'], 'lit'),
      node('Mul', ['dates', 'asked'], 'dated'),
      node('Add', ['next', 'lit'], 'seen'),
      node('Add', ['seen', 'dated'], 'logits'),
    ],
    initializers: [FOLLOWS, BY_LIGHT, BY_DATE, integers('places', [1, 3]), floats('date', [1], [id('date')])],
    inputs: [
      { name: 'input_ids', type: 'int64', dims: ['batch', kind === 'later' ? 1 : 'length'] },
      value('encoder_hidden_states', 'batch', 'seen_length', 1),
      ...(remembers ? [before] : []),
      ...(kind === 'merged' ? [{ name: 'use_cache_branch', type: 'bool' as const, dims: [1] }] : []),
    ],
    outputs: [value('logits', 'batch', 'length', SIZE), ...(kind === 'whole' ? [] : [value(`present.0.${MEMORY}`, 'batch', 1, 'all', 1)])],
  });
}

/** Puts a model that writes tagged text below `{data_dir}/models`, in one of the forms that exports have; its graphs are called by a format where one is given. */
export function installDonut(dataDir: string, name: string, form: 'whole' | 'split' | 'merged', format = ''): void {
  const suffix = format === '' ? '' : `_${format}`;
  writeFiles(join(dataDir, 'models', ...name.split('/')), {
    [`onnx/encoder_model${suffix}.onnx`]: brightness(),
    ...(form === 'merged' ? { [`onnx/decoder_model_merged${suffix}.onnx`]: decoder('merged') } : {}),
    ...(form === 'whole' ? { 'onnx/decoder_model.onnx': decoder('whole') } : {}),
    ...(form === 'split' ? { 'onnx/decoder_model.onnx': decoder('first'), 'onnx/decoder_with_past_model.onnx': decoder('later') } : {}),
    'tokenizer.json': lettersTokenizer(TAGS, VOCABULARY.slice(TAGS.length)),
    'config.json': { decoder: { bos_token_id: 1, eos_token_id: 2, pad_token_id: 0, max_position_embeddings: 64 } },
    'preprocessor_config.json': { size: { height: SIDE, width: SIDE }, image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] },
  });
}

const WORDS = wordPiece({ words: ['the', 'quern', 'mill', 'grinds', 'who', '?'], modelMaxLength: 512 }, true);
const LABELS = { answers: [], words: ['O', 'B-NAME', 'I-NAME'], pages: ['form', 'report'] } as const;

/** A column or table of logits by token. */
function byWord(name: string, columns: number, logits: Readonly<Record<string, readonly number[]>>): OnnxTensor {
  const values = new Float32Array(WORDS.tokens.length * columns);
  for (const [word, row] of Object.entries(logits)) values.set(row, WORDS.tokens.indexOf(word) * columns);
  return floats(name, columns === 1 ? [WORDS.tokens.length] : [WORDS.tokens.length, columns], values);
}

const HEADS = {
  answers: {
    nodes: [node('Gather', ['starts', 'input_ids'], 'start_logits'), node('Gather', ['ends', 'input_ids'], 'end_logits')],
    initializers: [byWord('starts', 1, { quern: [4] }), byWord('ends', 1, { mill: [4] })],
    outputs: [value('start_logits', 'batch', 'length'), value('end_logits', 'batch', 'length')],
  },
  words: {
    nodes: [node('Gather', ['labels', 'input_ids'], 'logits')],
    initializers: [byWord('labels', 3, { the: [4, 0, 0], grinds: [4, 0, 0], quern: [0, 4, 0], mill: [0, 0, 4] })],
    outputs: [value('logits', 'batch', 'length', 3)],
  },
  pages: {
    nodes: [node('Gather', ['kinds', 'input_ids'], 'each'), node('ReduceSum', ['each', 'one'], 'logits', { keepdims: { int: 0 } })],
    initializers: [byWord('kinds', 2, { grinds: [0, 3] }), integers('one', [1])],
    outputs: [value('logits', 'batch', 2)],
  },
} as const;

/** Puts a model that looks at words and their places below `{data_dir}/models`. */
export function installLayout(dataDir: string, name: string, head: keyof typeof HEADS): void {
  const { nodes, initializers, outputs } = HEADS[head];
  const inputs = ['input_ids', 'attention_mask', 'token_type_ids'].map((one) => ({
    name: one,
    type: 'int64' as const,
    dims: ['batch', 'length'],
  }));
  writeFiles(join(dataDir, 'models', ...name.split('/')), {
    'onnx/model.onnx': writeOnnx({
      nodes,
      initializers,
      inputs: [...inputs, { name: 'bbox', type: 'int64', dims: ['batch', 'length', 4] }],
      outputs,
    }),
    'tokenizer.json': WORDS.tokenizer,
    'tokenizer_config.json': WORDS.config,
    'config.json': { id2label: Object.fromEntries(LABELS[head].map((label, index) => [index, label])), max_position_embeddings: 512 },
  });
}
