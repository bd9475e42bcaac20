import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { spell } from '../../../../runtime/engines/tokenizers/byte-alphabet.js';
import { floats, integers, type OnnxGraph, type OnnxValue, writeOnnx } from '../writers/onnx-writer.js';

const node = (op: string, inputs: readonly string[], output: string, attributes = {}) => ({ op, inputs, outputs: [output], attributes });

const START = '<|im_start|>';
const END = '<|im_end|>';
const BYTES = 256;
const VOCABULARY = BYTES + 2;
const END_ID = BYTES + 1;
const CERTAIN = 30;
const TRIGGERED = 100;

/** What the tiny model writes: this, */
export const ANSWER = 'ABC\u00e4DEF';
/** or this where the letter `TRIGGER` is anywhere before. */
export const TRIGGERED_ANSWER = 'PQR';
/** What comes after a thinking block. */
export const THOUGHT_ANSWER = 'XYZ';
/** The token that stands for a call of a tool in a model that has one. */
const CALL_TOKEN = '\u0001';
/** See `TRIGGERED_ANSWER`. */
export const TRIGGER = 'z';

/** And what it repeats where its state does not fit what it read. */
export const LOST = '?';

/** Forms of the tiny model. */
export interface TinyCausalOptions {
  /** The graph keeps no keys and values. */
  readonly withoutPast?: boolean;
  /** After the first letter, each of a to h is as likely as the others. */
  readonly undecided?: boolean;
  /** Written in place of `ANSWER`, as one token: the text of a call of a tool. */
  readonly call?: string;
  /** The template opens a thinking block; after one that has ended comes `THOUGHT_ANSWER`. */
  readonly thinks?: boolean;
  /** An input that text generation does not have; the graph ignores it. */
  readonly needs?: string;
  /** Two graphs in one, as older exporters have them: after others, only one token may be read at a time. */
  readonly branches?: boolean;
  /** Reads one token at a time, always. */
  readonly single?: boolean;
  /** An input says of how many tokens logits are wanted; of one is right. */
  readonly keepsLogits?: boolean;
  /**
   * Beside keys and values the graph keeps a state of a fixed size, which has to fit them: a sum over all tokens read, more of them for the trigger.
   * It is right after any reading, or only where one token is read after others.
   */
  readonly states?: 'pieces' | 'singles';
  /** Logits of no text generator: for a whole text; without a batch, other than declared; or labels for each token. */
  readonly head?: 'text' | 'undeclared' | 'labels';
}

/** Steps from the logits of a text generator to those of other models, by `head`; the outputs as the graph declares them. */
const HEADS = {
  none: { nodes: [], logits: 'logits', dims: ['batch', 'length', VOCABULARY] },
  text: {
    nodes: [node('ReduceMax', ['each'], 'logits', { axes: { ints: [1] }, keepdims: { int: 0 } })],
    logits: 'each',
    dims: ['batch', VOCABULARY],
  },
  undeclared: {
    nodes: [
      node('Less', ['rows', 'total'], 'kept'),
      node('Compress', ['sizes', 'kept'], 'shape'),
      node('Reshape', ['each', 'shape'], 'logits'),
    ],
    logits: 'each',
    dims: ['batch', 'length', 'values'],
  },
  labels: {
    nodes: [node('Gather', ['each', 'firstTokens'], 'logits', { axis: { int: 2 } })],
    logits: 'each',
    dims: ['batch', 'length', 2],
  },
} as const;

/** Whether the branch fits: the one for later tokens, and then one token, or the other from the beginning. */
const BRANCHED = [
  node('ReduceMin', ['position_ids'], 'firstPosition', { axes: { ints: [1] }, keepdims: { int: 0 } }),
  node('Greater', ['firstPosition', 'zeros'], 'isLater'),
  node('Equal', ['firstPosition', 'last'], 'isOne'),
  node('Not', ['isLater'], 'isFirst'),
  node('Or', ['isOne', 'isFirst'], 'mayRead'),
  node('Equal', ['isLater', 'use_cache_branch'], 'isBranch'),
  node('And', ['mayRead', 'isBranch'], 'fitsLength'),
  node('And', ['fits', 'fitsLength'], 'fitsBranch'),
];

/** What a state gains: one for each token read, two for the trigger. */
const GAINED = [
  node('ReduceSum', ['marked', 'rowAxes'], 'marksRead'),
  node('Shape', ['input_ids'], 'readSize'),
  node('Gather', ['readSize', 'one'], 'readLength'),
  node('Cast', ['readLength'], 'readCount', { to: { int: 1 } }),
  node('Add', ['marksRead', 'readCount'], 'gained'),
];
/** States that are added to, however many tokens are read, or that take several for the beginning of a text. */
const STATES = {
  pieces: [node('Add', ['past_conv.0', 'gained'], 'present_conv.0')],
  singles: [
    node('Equal', ['readCount', 'oneCount'], 'isOneRead'),
    node('Cast', ['isOneRead'], 'keptShare', { to: { int: 1 } }),
    node('Mul', ['past_conv.0', 'keptShare'], 'stateKept'),
    node('Add', ['stateKept', 'gained'], 'present_conv.0'),
  ],
} as const;
/** The logits, of `LOST` where the state is not that of all tokens. */
const FITTING = [
  node('ReduceSum', ['present.0.key'], 'marksKept', { keepdims: { int: 0 } }),
  node('ReduceSum', ['attention_mask'], 'tokensKept', { keepdims: { int: 0 } }),
  node('Cast', ['tokensKept'], 'keptCount', { to: { int: 1 } }),
  node('Add', ['marksKept', 'keptCount'], 'expected'),
  node('ReduceSum', ['present_conv.0'], 'state', { keepdims: { int: 0 } }),
  node('Equal', ['state', 'expected'], 'isState'),
  node('Where', ['isState', 'all', 'lost'], 'stated'),
];

/** The logits of the last tokens, as many as are wanted. */
const KEPT = [
  node('Neg', ['num_logits_to_keep'], 'fromEnd'),
  node('Unsqueeze', ['fromEnd', 'zeros'], 'starts'),
  node('Slice', ['rowLogits', 'starts', 'far', 'one'], 'logits'),
];

/** A row per token: how much more likely `to` is after `from`, for each pair of neighbours of a text that ends. */
function chain(text: string, weight: number, from = '\n'): Float32Array {
  const table = new Float32Array(VOCABULARY * VOCABULARY);
  const steps = [...Buffer.from(from), ...Buffer.from(text), END_ID];
  for (let at = 1; at < steps.length; at += 1) table[steps[at - 1]! * VOCABULARY + steps[at]!] = weight;
  return table;
}

function plainTable({ undecided = false, thinks = false, call }: TinyCausalOptions): Float32Array {
  const table = chain(call === undefined ? ANSWER : CALL_TOKEN, CERTAIN);
  if (thinks) for (const [at, weight] of chain(THOUGHT_ANSWER, CERTAIN, '>').entries()) table[at] = Math.max(table[at]!, weight);
  const letters = Buffer.from('abcdefgh');
  // From the first letter on a drawn one, and from each of those on another.
  if (undecided) for (const from of [...letters, ANSWER.charCodeAt(0)]) for (const to of letters) table[from * VOCABULARY + to] = CERTAIN;
  return table;
}

function graph(options: TinyCausalOptions): OnnxGraph {
  const { withoutPast = false, branches = false, single = false, keepsLogits = false, needs, states } = options;
  const head = HEADS[options.head ?? 'none'];
  const value = (name: string, dims: readonly (number | string)[], type: OnnxValue['type'] = 'float32'): OnnxValue => ({
    name,
    type,
    dims,
  });
  const mark = new Float32Array(VOCABULARY);
  mark[TRIGGER.charCodeAt(0)] = 1;
  const lost = new Float32Array(VOCABULARY);
  lost[LOST.charCodeAt(0)] = CERTAIN;
  const stated = states === undefined ? [] : [...GAINED, ...STATES[states], ...FITTING];
  const past = ['key', 'value'].map((kind) => value(`past_key_values.0.${kind}`, ['batch', 1, 'past', 1]));
  const all = withoutPast
    ? []
    : [
        node('Concat', ['past_key_values.0.value', 'seen'], 'present.0.value', { axis: { int: 2 } }),
        node('Concat', ['past_key_values.0.key', 'seen'], 'present.0.key', { axis: { int: 2 } }),
      ];
  return {
    nodes: [
      node('Gather', ['marks', 'input_ids'], 'marked'),
      node('Unsqueeze', ['marked', 'seenAxes'], 'seen'),
      ...all,
      node('ReduceMax', [withoutPast ? 'seen' : 'present.0.value'], 'found', { axes: { ints: [1, 2, 3] }, keepdims: { int: 0 } }),
      node('Unsqueeze', ['found', 'foundAxes'], 'flag'),
      node('Gather', ['plain', 'input_ids'], 'usual'),
      node('Gather', ['special', 'input_ids'], 'other'),
      node('Mul', ['other', 'flag'], 'chosen'),
      node('Add', ['usual', 'chosen'], 'all'),
      ...stated,
      // A wrong position or a mask of the wrong length makes every token equally likely.
      node('ReduceSum', ['attention_mask', 'rowAxes'], 'total', { keepdims: { int: 0 } }),
      node('ReduceMax', ['position_ids'], 'last', { axes: { ints: [1] }, keepdims: { int: 0 } }),
      node('Sub', ['total', 'one'], 'end'),
      node('Equal', ['last', 'end'], 'fits'),
      ...(branches ? BRANCHED : []),
      node('Cast', [branches ? 'fitsBranch' : 'fits'], 'share', { to: { int: 1 } }),
      node('Unsqueeze', ['share', 'foundAxes'], 'shares'),
      node('Mul', [states === undefined ? 'all' : 'stated', 'shares'], keepsLogits ? 'rowLogits' : head.logits),
      ...(keepsLogits ? KEPT : []),
      ...head.nodes,
    ],
    initializers: [
      floats('marks', [VOCABULARY], mark),
      floats('plain', [VOCABULARY, VOCABULARY], plainTable(options)),
      floats('special', [VOCABULARY, VOCABULARY], chain(TRIGGERED_ANSWER, TRIGGERED)),
      floats('lost', [VOCABULARY], lost),
      floats('oneCount', [1], [1]),
      integers('seenAxes', [1, 3]),
      integers('foundAxes', [1, 2]),
      integers('rowAxes', [1]),
      integers('one', [1]),
      integers('firstTokens', [0, 1]),
      integers('zeros', [0]),
      integers('far', [1e9]),
      // Of these sizes the last is left out when the graph runs, which nobody can tell before.
      integers('rows', [0, 1, 1e9]),
      integers('sizes', [-1, VOCABULARY, 1]),
    ],
    inputs: [
      value('input_ids', ['batch', single ? 1 : 'length'], 'int64'),
      value('attention_mask', ['batch', 'total'], 'int64'),
      value('position_ids', ['batch', 'length'], 'int64'),
      ...(branches ? [value('use_cache_branch', [1], 'bool')] : []),
      ...(keepsLogits ? [value('num_logits_to_keep', [], 'int64')] : []),
      ...(needs === undefined ? [] : [value(needs, ['batch', 'length'], 'int64')]),
      ...(withoutPast ? [] : past),
      ...(states === undefined ? [] : [value('past_conv.0', ['batch', 1, 1])]),
    ],
    outputs: [
      value('logits', head.dims),
      ...(withoutPast ? [] : ['key', 'value'].map((kind) => value(`present.0.${kind}`, ['batch', 1, 'total', 1]))),
      ...(states === undefined ? [] : [value('present_conv.0', ['batch', 1, 1])]),
    ],
  };
}

/** What a token stands for. */
function textOf(byte: number, { call }: TinyCausalOptions): Uint8Array {
  return call !== undefined && byte === CALL_TOKEN.charCodeAt(0) ? Buffer.from(call) : Uint8Array.of(byte);
}

/** Writes a text-generation export of some hundred kilobytes into a folder: a token per byte, and answers that are known. */
export function writeTinyCausal(folder: string, options: TinyCausalOptions = {}): void {
  const put = (name: string, content: object | Uint8Array): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content instanceof Uint8Array ? content : JSON.stringify(content));
  };
  const special = (content: string, id: number) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  });
  put('onnx/model.onnx', writeOnnx(graph(options)));
  put('config.json', {
    model_type: 'tiny',
    max_position_embeddings: 1024,
    num_attention_heads: 1,
    hidden_size: 1,
    vocab_size: VOCABULARY,
    eos_token_id: END_ID,
  });
  put('tokenizer.json', {
    version: '1.0',
    added_tokens: [special(START, BYTES), special(END, END_ID)],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      vocab: Object.fromEntries(Array.from({ length: BYTES }, (_, byte) => [spell(textOf(byte, options)), byte])),
      merges: [],
    },
  });
  put('tokenizer_config.json', {
    eos_token: END,
    chat_template: `{% for m in messages %}${START}{{ m.role }}\n{{ m.content }}${END}\n{% endfor %}{% if add_generation_prompt %}${START}assistant\n${options.thinks ? '<think>\n' : ''}{% endif %}`,
  });
}
