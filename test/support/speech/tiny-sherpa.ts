import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { floats, integers, type OnnxGraph, type OnnxValue, writeOnnx } from '../../../models/writers/onnx-writer.js';

/** Hertz of the first speaker's tone; that of each further one is as much higher. */
export const SHERPA_TONE = 150;
const RATE = 22_050;
const SYMBOL_SAMPLES = 800;
/** What the models here write, whatever they hear. */
export const SHERPA_TEXT = 'hello world';
const TOKENS = ['<blk>', '▁hello', '▁world'];
/** The likeliest token of each frame. */
const FRAMES = [1, 0, 2, 0];
const LIKELY = 20;

function put(folder: string, files: Readonly<Record<string, OnnxGraph | string>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : writeOnnx(content));
}

const listed = (tokens: readonly string[]): string => tokens.map((token, number) => `${token} ${number}\n`).join('');

/** Puts a model of VITS that reads letters into a folder: a tone for each symbol, as high as its speaker's. */
export function installSherpaVoice(folder: string, speakers: number): void {
  const graph: OnnxGraph = {
    nodes: [
      { op: 'Gather', inputs: ['scales', 'one_index'], outputs: ['length_scale'] },
      { op: 'Cast', inputs: ['x_length'], outputs: ['counted'], attributes: { to: { int: 1 } } },
      { op: 'Mul', inputs: ['counted', 'symbol_samples'], outputs: ['usual'] },
      { op: 'Mul', inputs: ['usual', 'length_scale'], outputs: ['lasting'] },
      { op: 'Squeeze', inputs: ['lasting'], outputs: ['limit'] },
      { op: 'Range', inputs: ['zero', 'limit', 'one'], outputs: ['times'] },
      { op: 'Cast', inputs: ['sid'], outputs: ['speaker'], attributes: { to: { int: 1 } } },
      { op: 'Add', inputs: ['speaker', 'one'], outputs: ['times_higher'] },
      { op: 'Mul', inputs: ['pitch', 'times_higher'], outputs: ['height'] },
      { op: 'Mul', inputs: ['times', 'height'], outputs: ['angle'] },
      { op: 'Sin', inputs: ['angle'], outputs: ['wave'] },
      { op: 'Mul', inputs: ['wave', 'loudness'], outputs: ['sound'] },
      { op: 'Reshape', inputs: ['sound', 'shape'], outputs: ['y'] },
    ],
    initializers: [
      integers('one_index', [1]),
      integers('shape', [1, 1, -1]),
      floats('symbol_samples', [1], [SYMBOL_SAMPLES]),
      floats('zero', [], [0]),
      floats('one', [], [1]),
      floats('pitch', [1], [(2 * Math.PI * SHERPA_TONE) / RATE]),
      floats('loudness', [], [0.3]),
    ],
    inputs: [
      { name: 'x', type: 'int64', dims: ['N', 'L'] },
      { name: 'x_length', type: 'int64', dims: ['N'] },
      { name: 'scales', type: 'float32', dims: [3] },
      { name: 'sid', type: 'int64', dims: [1] },
    ],
    outputs: [{ name: 'y', type: 'float32', dims: ['N', 1, 'T'] }],
    metadata: {
      model_type: 'vits', comment: 'coqui', frontend: 'characters', language: 'English', sample_rate: String(RATE), n_speakers: String(speakers),
      add_blank: '1', blank_id: '0', bos_id: '1', eos_id: '2', pad_id: '3', use_eos_bos: '1',
    }, // biome-ignore format: one row of facts is read at a glance
  };
  const letters = ['_', '^', '$', '~', ' ', ...'.,!?abcdefghijklmnopqrstuvwxyz'];
  put(folder, { 'model.onnx': graph, 'tokens.txt': listed(letters) });
}

/** Rows in which the token of each frame is the likeliest, out of so many. */
const likelihoods = (frames: readonly number[], count: number): number[] =>
  frames.flatMap((token) => Array.from({ length: count }, (_, number) => (number === token ? LIKELY : -LIKELY)));

const constant = (
  inputs: readonly OnnxValue[],
  outputs: OnnxGraph['outputs'],
  of: OnnxGraph['initializers'],
  metadata = {},
): OnnxGraph => ({
  nodes: outputs.map(({ name }, index) => ({ op: 'Identity', inputs: [of[index]!.name], outputs: [name] })),
  initializers: of,
  inputs,
  outputs,
  metadata,
});

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
        model_type: 'whisper-tiny', is_multilingual: '1', n_mels: '80', n_text_layer: String(layers), n_text_ctx: String(context), n_text_state: String(state),
        n_vocab: String(words.length), sot: String(sot), eot: String(eot), blank_id: String(blank), translate: String(translate), transcribe: String(transcribe),
        no_timestamps: String(noTimes), no_speech: String(noSpeech), sot_sequence: `${sot},${english},${transcribe}`, sot_index: '0',
        all_language_tokens: `${english},${german}`, all_language_codes: 'en,de',
      }, // biome-ignore format: one row of facts is read at a glance
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

/** Folders of models that write down speech, by their kind: each says the same whatever it hears. */
export const SHERPA_EARS: Readonly<Record<string, (folder: string) => void>> = {
  Whisper: installWhisper,
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
      'decoder-epoch-1.onnx': constant(
        [{ name: 'y', type: 'int64', dims: ['N', 2] }],
        [{ name: 'decoder_out', type: 'float32', dims: [1, 1] }],
        [floats('nothing', [1, 1], [0])],
        { context_size: '2', vocab_size: String(TOKENS.length) },
      ),
      'joiner-epoch-1.onnx': {
        nodes: [{ op: 'Add', inputs: ['encoder_out', 'decoder_out'], outputs: ['logit'] }],
        initializers: [],
        inputs: [
          { name: 'encoder_out', type: 'float32', dims: ['N', TOKENS.length] },
          { name: 'decoder_out', type: 'float32', dims: ['N', 1] },
        ],
        outputs: [{ name: 'logit', type: 'float32', dims: ['N', TOKENS.length] }],
        metadata: { joiner_dim: String(TOKENS.length) },
      },
    }),
  SenseVoice: (folder) => {
    // The first frames tell language, mood, what sounds, and whether numbers are written as figures.
    const tokens = [...TOKENS, '<|en|>', '<|NEUTRAL|>', '<|Speech|>', '<|withitn|>'];
    const frames = [3, 4, 5, 6, ...FRAMES];
    const inputs: OnnxValue[] = [{ name: 'x', type: 'float32', dims: ['N', 'T', 560] }];
    for (const name of ['x_length', 'language', 'text_norm']) inputs.push({ name, type: 'int32', dims: ['N'] });
    const many = (value: number): string => Array.from({ length: 560 }, () => value).join(',');
    put(folder, {
      'tokens.txt': listed(tokens),
      'model.onnx': constant(
        inputs,
        [{ name: 'logits', type: 'float32', dims: ['N', 'T', tokens.length] }],
        [floats('rows', [1, frames.length, tokens.length], likelihoods(frames, tokens.length))],
        {
          model_type: 'sense_voice_ctc', vocab_size: String(tokens.length), normalize_samples: '0', lfr_window_size: '7', lfr_window_shift: '6', blank_id: '0',
          lang_auto: '0', lang_zh: '3', lang_en: '4', lang_ja: '11', lang_ko: '12', lang_yue: '7', with_itn: '14', without_itn: '15', neg_mean: many(0), inv_stddev: many(1),
        }, // biome-ignore format: one row of facts is read at a glance
      ),
    });
  },
};
