import { floats, integers, type OnnxGraph, type OnnxValue } from '../models/writers/onnx-writer.js';
import { listed, put } from './tiny-sherpa.js';
import { constant, counting, LIKELY, likelihoods, PIECE, padded, pieces } from './tiny-sherpa-graphs.js';
import { NEMO_EARS } from './tiny-sherpa-nemo.js';

/** What the models here write, whatever they hear. */
export const SHERPA_TEXT = 'hello world';
const TOKENS = ['<blk>', '▁hello', '▁world'];
/** The likeliest token of each frame. */
const FRAMES = [1, 0, 2, 0];

const FEATURES: OnnxValue = { name: 'x', type: 'float32', dims: ['N', 'T', 80] };

/** A Whisper model for two languages, which hears German unless it is told otherwise. */
function installWhisper(folder: string): void {
  const [layers, context, state] = [1, 448, 4];
  const words = ['hello', ' world', '<eot>', '<sot>', '<translate>', '<transcribe>', '<notimes>', '<nospeech>', '<en>', '<de>', ' '];
  const [, world, eot, sot, translate, transcribe, noTimes, noSpeech, english, german, blank] = words.keys();
  // What is said stands behind the four tokens of the task.
  const rows = Array.from({ length: context }, (_, offset) => (offset === 0 ? 0 : offset === 4 ? world! : eot!));
  const table = likelihoods(rows, words.length);
  table[german!] = LIKELY / 2;
  const cross: OnnxGraph['outputs'] = ['k', 'v'].map((one) => ({
    name: `n_layer_cross_${one}`,
    type: 'float32',
    dims: [layers, 1, 'T', state],
  }));
  const cache = (place: string): OnnxValue[] =>
    ['k', 'v'].map((one) => ({ name: `${place}_n_layer_self_${one}_cache`, type: 'float32', dims: [layers, 'N', context, state] }));
  put(folder, {
    'tiny-tokens.txt': words.map((word, number) => `${Buffer.from(word).toString('base64')} ${number}\n`).join(''),
    'tiny-encoder.onnx': constant(
      [{ name: 'mel', type: 'float32', dims: ['N', 80, 'T'] }],
      cross,
      ['k', 'v'].map((one) => floats(`constant_${one}`, [layers, 1, 2, state], new Float32Array(2 * layers * state))),
      {
        model_type: 'whisper-tiny',
        is_multilingual: '1',
        n_mels: '80',
        n_text_layer: String(layers),
        n_text_ctx: String(context),
        n_text_state: String(state),
        n_vocab: String(words.length),
        sot: String(sot),
        eot: String(eot),
        blank_id: String(blank),
        translate: String(translate),
        transcribe: String(transcribe),
        no_timestamps: String(noTimes),
        no_speech: String(noSpeech),
        sot_sequence: `${sot},${english},${transcribe}`,
        sot_index: '0',
        all_language_tokens: `${english},${german}`,
        all_language_codes: 'en,de',
      },
    ),
    'tiny-decoder.onnx': {
      nodes: [
        { op: 'Gather', inputs: ['table', 'offset'], outputs: ['row'] },
        { op: 'Shape', inputs: ['tokens'], outputs: ['given'] },
        { op: 'Concat', inputs: ['given', 'width'], outputs: ['wanted'], attributes: { axis: { int: 0 } } },
        { op: 'Expand', inputs: ['row', 'wanted'], outputs: ['logits'] },
        ...['k', 'v'].map((one) => ({
          op: 'Identity',
          inputs: [`in_n_layer_self_${one}_cache`],
          outputs: [`out_n_layer_self_${one}_cache`],
        })),
      ],
      initializers: [floats('table', [context, words.length], table), integers('width', [words.length])],
      inputs: [{ name: 'tokens', type: 'int64', dims: ['N', 'n'] }, ...cache('in'), ...cross, { name: 'offset', type: 'int64', dims: [1] }],
      outputs: [{ name: 'logits', type: 'float32', dims: ['N', 'n', words.length] }, ...cache('out')],
    },
  });
}

/** The decoder of a transducer that does not look at what was said. */
const DECODER = constant(
  [{ name: 'y', type: 'int64', dims: ['N', 2] }],
  [{ name: 'decoder_out', type: 'float32', dims: [1, 1] }],
  [floats('nothing', [1, 1], [0])],
  { context_size: '2', vocab_size: String(TOKENS.length) },
);
const JOINER: OnnxGraph = {
  nodes: [{ op: 'Add', inputs: ['encoder_out', 'decoder_out'], outputs: ['logit'] }],
  initializers: [],
  inputs: [
    { name: 'encoder_out', type: 'float32', dims: ['N', TOKENS.length] },
    { name: 'decoder_out', type: 'float32', dims: ['N', 1] },
  ],
  outputs: [{ name: 'logit', type: 'float32', dims: ['N', TOKENS.length] }],
  metadata: { joiner_dim: String(TOKENS.length) },
};

const many = (value: number): string => Array.from({ length: 560 }, () => value).join(',');
/** How models by FunASR take seven frames as one. */
const LFR = { lfr_window_size: '7', lfr_window_shift: '6', neg_mean: many(0), inv_stddev: many(1) };

/** Tokens of Paraformer, which marks those whose word goes on. */
const PARTS = ['<blank>', '<s>', '</s>', 'hel@@', 'lo', 'world'];
const SAID_PARTS = [3, 4, 5];

/** Paraformer that hears all at once: each token fires where its peak stands, 0.02 s a place; the last peak is the end. */
function installParaformer(folder: string): void {
  const peaks = [10, 20, 40, 60];
  const fired = Array.from({ length: 80 }, (_, at) => (peaks.includes(at) ? 1 : 0));
  put(folder, {
    'tokens.txt': listed(PARTS),
    'model.int8.onnx': constant(
      [
        { name: 'speech', type: 'float32', dims: ['N', 'T', 560] },
        { name: 'speech_lengths', type: 'int32', dims: ['N'] },
      ],
      [
        { name: 'logits', type: 'float32', dims: ['N', 'n', PARTS.length] },
        { name: 'token_num', type: 'int32', dims: ['N'] },
        { name: 'us_alphas', type: 'float32', dims: ['N', 'P'] },
        { name: 'us_cif_peak', type: 'float32', dims: ['N', 'P'] },
      ],
      [
        floats('rows', [1, SAID_PARTS.length, PARTS.length], likelihoods(SAID_PARTS, PARTS.length)),
        { name: 'count', type: 'int32', dims: [1], values: Int32Array.of(SAID_PARTS.length) },
        floats('alphas', [1, fired.length], fired),
        floats('peaks', [1, fired.length], fired),
      ],
      { model_type: 'paraformer', vocab_size: String(PARTS.length), ...LFR },
    ),
  });
}

/** Paraformer that hears as it comes: its first piece fires three tokens; the cache tells the later ones that they fire nothing. */
function installLiveParaformer(folder: string): void {
  const [width, frames] = [4, 18];
  const alphas = Array.from({ length: frames }, (_, at) => (at > 5 && at < 6 + SAID_PARTS.length ? 1 : 0));
  put(folder, {
    'tokens.txt': listed(PARTS),
    'encoder.int8.onnx': constant(
      [
        { name: 'speech', type: 'float32', dims: ['N', 'T', 560] },
        { name: 'speech_lengths', type: 'int32', dims: ['N'] },
      ],
      [
        { name: 'enc', type: 'float32', dims: ['N', 'T', width] },
        { name: 'enc_len', type: 'int32', dims: ['N'] },
        { name: 'alphas', type: 'float32', dims: ['N', 'T'] },
      ],
      [
        floats('rows', [1, frames, width], new Float32Array(frames * width)),
        { name: 'count', type: 'int32', dims: [1], values: Int32Array.of(frames) },
        floats('weights', [1, frames], alphas),
      ],
      {
        model_type: 'paraformer',
        vocab_size: String(PARTS.length),
        encoder_output_size: String(width),
        decoder_num_blocks: '1',
        decoder_kernel_size: '2',
        ...LFR,
      },
    ),
    'decoder.int8.onnx': {
      nodes: [
        { op: 'Add', inputs: ['in_cache_0', 'one'], outputs: ['out_cache_0'] },
        { op: 'ReduceMax', inputs: ['in_cache_0'], outputs: ['pieces'], attributes: { keepdims: { int: 0 } } },
        { op: 'Less', inputs: ['pieces', 'half'], outputs: ['is_first'] },
        { op: 'Where', inputs: ['is_first', 'said', 'nothing'], outputs: ['sample_ids'] },
        { op: 'Identity', inputs: ['acoustic_embeds'], outputs: ['logits'] },
      ],
      initializers: [
        floats('one', [1], [1]),
        floats('half', [], [0.5]),
        { name: 'said', type: 'int64', dims: [1, SAID_PARTS.length], values: BigInt64Array.from(SAID_PARTS, BigInt) },
        { name: 'nothing', type: 'int64', dims: [1, SAID_PARTS.length], values: new BigInt64Array(SAID_PARTS.length) },
      ],
      inputs: [
        { name: 'enc', type: 'float32', dims: ['N', 'T', width] },
        { name: 'enc_len', type: 'int32', dims: ['N'] },
        { name: 'acoustic_embeds', type: 'float32', dims: ['N', 'n', width] },
        { name: 'acoustic_embeds_len', type: 'int32', dims: ['N'] },
        { name: 'in_cache_0', type: 'float32', dims: ['N', width, 1] },
      ],
      outputs: [
        { name: 'logits', type: 'float32', dims: ['N', 'n', width] },
        { name: 'sample_ids', type: 'int64', dims: ['N', 'n'] },
        { name: 'out_cache_0', type: 'float32', dims: ['N', width, 1] },
      ],
    },
  });
}

/** The states of a streaming zipformer with one layer. */
const ZIPFORMER_STATES: readonly OnnxValue[] = [
  { name: 'cached_key_0', type: 'float32', dims: [2, 'N', 1] },
  { name: 'cached_nonlin_attn_0', type: 'float32', dims: [1, 'N', 2, 3] },
  { name: 'cached_val1_0', type: 'float32', dims: [2, 'N', 1] },
  { name: 'cached_val2_0', type: 'float32', dims: [2, 'N', 1] },
  { name: 'cached_conv1_0', type: 'float32', dims: ['N', 4, 1] },
  { name: 'cached_conv2_0', type: 'float32', dims: ['N', 4, 1] },
  { name: 'embed_states', type: 'float32', dims: ['N', 128, 3, 19] },
  { name: 'processed_lens', type: 'int64', dims: ['N'] },
];
const ZIPFORMER_FACTS = {
  model_type: 'zipformer2',
  T: '45',
  decode_chunk_len: '32',
  encoder_dims: '4',
  query_head_dims: '1',
  value_head_dims: '1',
  num_heads: '1',
  num_encoder_layers: '1',
  cnn_module_kernels: '3',
  left_context_len: '2',
};

/** A zipformer that hears as it comes: the encoder of a transducer, or a whole CTC model. */
const liveZipformer = (output: string): OnnxGraph =>
  counting(
    [FEATURES],
    ZIPFORMER_STATES,
    [{ name: output, type: 'float32', dims: ['N', PIECE, TOKENS.length] }],
    pieces([PIECE, TOKENS.length], (frames) => likelihoods(padded(frames, 0, PIECE), TOKENS.length), FRAMES),
    ZIPFORMER_FACTS,
  );

/** Moonshine, whose decoders say what stands at each length; its sound has to last for as many tokens. */
function installMoonshine(folder: string): void {
  const tokens = ['<unk>', '<s>', '</s>', '▁hello', '▁world'];
  const [end, frames, width] = [2, 64, 4];
  const table = likelihoods([end, 3, 4, ...Array.from({ length: 60 }, () => end)], tokens.length);
  const decoder = (states: 'first' | 'next'): OnnxGraph => {
    const state = (name: string): OnnxValue => ({ name, type: 'float32', dims: ['N', 'n', width] });
    return {
      nodes: [
        { op: 'Gather', inputs: ['table', 'seq_len'], outputs: ['row'] },
        { op: 'Unsqueeze', inputs: ['row', 'zero'], outputs: ['logits'] },
        { op: 'Identity', inputs: [states === 'first' ? 'memory' : 'cache'], outputs: ['new_cache'] },
      ],
      initializers: [floats('table', [63, tokens.length], table), integers('zero', [0])],
      inputs: [
        { name: 'tokens', type: 'int32', dims: ['N', 1] },
        state('memory'),
        { name: 'seq_len', type: 'int32', dims: [1] },
        ...(states === 'next' ? [state('cache')] : []),
      ],
      outputs: [{ name: 'logits', type: 'float32', dims: ['N', 1, tokens.length] }, state('new_cache')],
    };
  };
  const features: OnnxValue = { name: 'features', type: 'float32', dims: ['N', 'T', width] };
  put(folder, {
    'tokens.txt': listed(tokens),
    'preprocess.onnx': constant(
      [{ name: 'audio', type: 'float32', dims: ['N', 'S'] }],
      [features],
      [floats('sound', [1, frames, width], new Float32Array(frames * width))],
    ),
    'encode.int8.onnx': {
      nodes: [{ op: 'Identity', inputs: ['features'], outputs: ['memory'] }],
      initializers: [],
      inputs: [features, { name: 'features_len', type: 'int32', dims: [1] }],
      outputs: [{ ...features, name: 'memory' }],
    },
    'uncached_decode.int8.onnx': decoder('first'),
    'cached_decode.int8.onnx': decoder('next'),
  });
}

/** Folders of models that write down speech, by their kind: each says the same whatever it hears. */
export const SHERPA_EARS: Readonly<Record<string, (folder: string) => void>> = {
  Whisper: installWhisper,
  Moonshine: installMoonshine,
  Paraformer: installParaformer,
  'streaming Paraformer': installLiveParaformer,
  ...NEMO_EARS,
  'streaming zipformer CTC': (folder) => put(folder, { 'tokens.txt': listed(TOKENS), 'model.int8.onnx': liveZipformer('log_probs') }),
  'streaming zipformer transducer': (folder) =>
    put(folder, {
      'tokens.txt': listed(TOKENS),
      'encoder.onnx': liveZipformer('encoder_out'),
      'decoder.onnx': DECODER,
      'joiner.onnx': JOINER,
    }),
  'zipformer CTC': (folder) =>
    put(folder, {
      'tokens.txt': listed(TOKENS),
      'model.int8.onnx': constant(
        [FEATURES, { name: 'x_lens', type: 'int64', dims: ['N'] }],
        [
          { name: 'log_probs', type: 'float32', dims: ['N', 'T', TOKENS.length] },
          { name: 'log_probs_len', type: 'int64', dims: ['N'] },
        ],
        [floats('rows', [1, FRAMES.length, TOKENS.length], likelihoods(FRAMES, TOKENS.length)), integers('count', [FRAMES.length])],
        { model_type: 'zipformer2_ctc' },
      ),
    }),
  transducer: (folder) =>
    put(folder, {
      'tokens.txt': listed(TOKENS),
      'encoder-epoch-1.onnx': constant(
        [FEATURES, { name: 'x_lens', type: 'int64', dims: ['N'] }],
        [
          { name: 'encoder_out', type: 'float32', dims: ['N', 'T', TOKENS.length] },
          { name: 'encoder_out_lens', type: 'int64', dims: ['N'] },
        ],
        [floats('rows', [1, FRAMES.length, TOKENS.length], likelihoods(FRAMES, TOKENS.length)), integers('count', [FRAMES.length])],
        { model_type: 'zipformer2' },
      ),
      'decoder-epoch-1.onnx': DECODER,
      'joiner-epoch-1.onnx': JOINER,
    }),
  SenseVoice: (folder) => {
    // The first frames tell language, mood, what sounds, and whether numbers are written as figures.
    const tokens = [...TOKENS, '<|en|>', '<|NEUTRAL|>', '<|Speech|>', '<|withitn|>'];
    const frames = [3, 4, 5, 6, ...FRAMES];
    const inputs: OnnxValue[] = [{ name: 'x', type: 'float32', dims: ['N', 'T', 560] }];
    for (const name of ['x_length', 'language', 'text_norm']) inputs.push({ name, type: 'int32', dims: ['N'] });
    put(folder, {
      'tokens.txt': listed(tokens),
      'model.onnx': constant(
        inputs,
        [{ name: 'logits', type: 'float32', dims: ['N', 'T', tokens.length] }],
        [floats('rows', [1, frames.length, tokens.length], likelihoods(frames, tokens.length))],
        {
          model_type: 'sense_voice_ctc',
          vocab_size: String(tokens.length),
          normalize_samples: '0',
          blank_id: '0',
          lang_auto: '0',
          lang_zh: '3',
          lang_en: '4',
          lang_ja: '11',
          lang_ko: '12',
          lang_yue: '7',
          with_itn: '14',
          without_itn: '15',
          ...LFR,
        },
      ),
    });
  },
};
