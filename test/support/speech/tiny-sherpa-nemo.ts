import { floats, integers, type OnnxGraph, type OnnxValue } from '../models/writers/onnx-writer.js';
import { listed, put } from './tiny-sherpa.js';
import { constant, counting, LIKELY, likelihoods, PIECE, padded, pieces } from './tiny-sherpa-graphs.js';

/** Tokens of NeMo's models, whose blank is the last, and what they hear. */
const NEMO_TOKENS = ['▁hello', '▁world', '<blk>'];
const NEMO_FRAMES = [0, 2, 1, 2];
/** Frames that are heard at most: 5 s. */
const NEMO_ROWS = 64;
const NEMO_INPUTS: readonly OnnxValue[] = [
  { name: 'audio_signal', type: 'float32', dims: ['N', 80, 'T'] },
  { name: 'length', type: 'int64', dims: ['N'] },
];

function installNemoCtc(folder: string): void {
  const width = NEMO_TOKENS.length;
  put(folder, {
    'tokens.txt': listed(NEMO_TOKENS),
    'model.int8.onnx': constant(
      NEMO_INPUTS,
      [{ name: 'logprobs', type: 'float32', dims: ['N', 'T', width] }],
      [floats('rows', [1, NEMO_ROWS, width], likelihoods(padded(NEMO_FRAMES, 2, NEMO_ROWS), width))],
      { model_type: 'EncDecCTCModelBPE', vocab_size: String(width), subsampling_factor: '8', normalize_type: 'per_feature' },
    ),
  });
}

/** What is likeliest after blank is blank, and after a word not the word again: each frame says one token at most. */
const NEMO_DECODER: OnnxGraph = {
  nodes: [
    { op: 'Gather', inputs: ['table', 'targets'], outputs: ['row'] },
    { op: 'Reshape', inputs: ['row', 'column'], outputs: ['outputs'] },
    { op: 'Identity', inputs: ['target_length'], outputs: ['prednet_lengths'] },
    { op: 'Identity', inputs: ['states_0'], outputs: ['states_0_next'] },
    { op: 'Identity', inputs: ['states_1'], outputs: ['states_1_next'] },
  ],
  initializers: [floats('table', [3, 3], [-2 * LIKELY, 0, 0, 0, -2 * LIKELY, 0, 0, 0, 0]), integers('column', [1, -1, 1])],
  inputs: [
    { name: 'targets', type: 'int32', dims: ['N', 1] },
    { name: 'target_length', type: 'int32', dims: ['N'] },
    { name: 'states_0', type: 'float32', dims: [1, 'N', 2] },
    { name: 'states_1', type: 'float32', dims: [1, 'N', 2] },
  ],
  outputs: [
    { name: 'outputs', type: 'float32', dims: ['N', 3, 1] },
    { name: 'prednet_lengths', type: 'int32', dims: ['N'] },
    { name: 'states_0_next', type: 'float32', dims: [1, 'N', 2] },
    { name: 'states_1_next', type: 'float32', dims: [1, 'N', 2] },
  ],
};
const NEMO_JOINER: OnnxGraph = {
  nodes: [
    { op: 'Add', inputs: ['encoder_outputs', 'decoder_outputs'], outputs: ['sum'] },
    { op: 'Reshape', inputs: ['sum', 'flat'], outputs: ['logits'] },
  ],
  initializers: [integers('flat', [1, 1, 1, -1])],
  inputs: [
    { name: 'encoder_outputs', type: 'float32', dims: ['N', 3, 1] },
    { name: 'decoder_outputs', type: 'float32', dims: ['N', 3, 1] },
  ],
  outputs: [{ name: 'logits', type: 'float32', dims: ['N', 1, 1, 3] }],
};
const NEMO_FACTS = {
  model_type: 'EncDecRNNTBPEModel',
  vocab_size: '2',
  subsampling_factor: '8',
  normalize_type: 'per_feature',
  pred_rnn_layers: '1',
  pred_hidden: '2',
};

/** Columns of a transducer's encoder: the token of each frame, and blank as the second. */
function nemoColumns(count: number, first = NEMO_FRAMES): number[] {
  const frames = padded(first, 2, count);
  return [0, 1, 2].flatMap((token) => frames.map((said) => (said === token ? LIKELY : token === 2 ? LIKELY / 2 : -LIKELY)));
}

function installNemoTransducer(folder: string): void {
  put(folder, {
    'tokens.txt': listed(NEMO_TOKENS),
    'encoder.int8.onnx': constant(
      NEMO_INPUTS,
      [
        { name: 'outputs', type: 'float32', dims: ['N', 3, 'T'] },
        { name: 'encoded_lengths', type: 'int64', dims: ['N'] },
      ],
      [floats('columns', [1, 3, 16], nemoColumns(16)), integers('count', [16])],
      NEMO_FACTS,
    ),
    'decoder.int8.onnx': NEMO_DECODER,
    'joiner.int8.onnx': NEMO_JOINER,
  });
}

const LIVE_NEMO = {
  window_size: '40',
  chunk_shift: '32',
  cache_last_channel_dim1: '1',
  cache_last_channel_dim2: '1',
  cache_last_channel_dim3: '1',
  cache_last_time_dim1: '1',
  cache_last_time_dim2: '1',
  cache_last_time_dim3: '1',
};

const NEMO_STATES: readonly OnnxValue[] = [
  { name: 'cache_last_channel', type: 'float32', dims: ['N', 1, 1, 1] },
  { name: 'cache_last_time', type: 'float32', dims: ['N', 1, 1, 1] },
  { name: 'cache_last_channel_len', type: 'int64', dims: ['N'] },
];

function installLiveNemoCtc(folder: string): void {
  const width = NEMO_TOKENS.length;
  put(folder, {
    'tokens.txt': listed(NEMO_TOKENS),
    'model.onnx': counting(
      NEMO_INPUTS as [OnnxValue, OnnxValue],
      NEMO_STATES,
      [
        { name: 'logprobs', type: 'float32', dims: ['N', PIECE, width] },
        { name: 'encoded_lengths', type: 'int64', dims: ['N'] },
      ],
      pieces([PIECE, width], (frames) => likelihoods(padded(frames, 2, PIECE), width), NEMO_FRAMES),
      { model_type: 'EncDecCTCModelBPE', vocab_size: '2', subsampling_factor: '8', normalize_type: 'NA', ...LIVE_NEMO },
    ),
  });
}

function installLiveNemoTransducer(folder: string): void {
  put(folder, {
    'tokens.txt': listed(NEMO_TOKENS),
    'encoder.onnx': counting(
      NEMO_INPUTS as [OnnxValue, OnnxValue],
      NEMO_STATES,
      [
        { name: 'outputs', type: 'float32', dims: ['N', 3, PIECE] },
        { name: 'encoded_lengths', type: 'int64', dims: ['N'] },
      ],
      pieces([3, PIECE], (frames) => nemoColumns(PIECE, [...frames]), NEMO_FRAMES),
      { ...NEMO_FACTS, normalize_type: 'NA', ...LIVE_NEMO },
    ),
    'decoder.onnx': NEMO_DECODER,
    'joiner.onnx': NEMO_JOINER,
  });
}

/** Folders of NeMo's models that write down speech, by their kind. */
export const NEMO_EARS: Readonly<Record<string, (folder: string) => void>> = {
  'NeMo CTC': installNemoCtc,
  'streaming NeMo CTC': installLiveNemoCtc,
  'NeMo transducer': installNemoTransducer,
  'streaming NeMo transducer': installLiveNemoTransducer,
};
