import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { floats, integers, type OnnxGraph, type OnnxNode, type OnnxTensor, writeOnnx } from '../models/writers/onnx-writer.js';

/** Hertz of the first speaker's tone; that of each further one is as much higher. */
export const SHERPA_TONE = 150;
const RATE = 22_050;
const SYMBOL_SAMPLES = 800;

/** Writes graphs, texts and bytes into a folder. */
export function put(folder: string, files: Readonly<Record<string, OnnxGraph | string | Uint8Array>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' || content instanceof Uint8Array ? content : writeOnnx(content));
}

/** A list of symbols as sherpa-onnx reads it. */
export const listed = (tokens: readonly string[]): string => tokens.map((token, number) => `${token} ${number}\n`).join('');

/** Makes `sound`, as many samples as `limit` says, `times_higher` than the first speaker's tone. */
const TONE: readonly OnnxNode[] = [
  { op: 'Range', inputs: ['zero', 'limit', 'one'], outputs: ['times'] },
  { op: 'Mul', inputs: ['pitch', 'times_higher'], outputs: ['height'] },
  { op: 'Mul', inputs: ['times', 'height'], outputs: ['angle'] },
  { op: 'Sin', inputs: ['angle'], outputs: ['wave'] },
  { op: 'Mul', inputs: ['wave', 'loudness'], outputs: ['sound'] },
];
const TONE_NUMBERS: readonly OnnxTensor[] = [
  floats('zero', [], [0]),
  floats('one', [], [1]),
  floats('pitch', [1], [(2 * Math.PI * SHERPA_TONE) / RATE]),
  floats('loudness', [], [0.3]),
];

/** Puts a model of VITS that reads letters into a folder: a tone for each symbol, as high as its speaker's. It may call itself something else. */
export function installSherpaVoice(folder: string, speakers: number, type = 'vits'): void {
  const graph: OnnxGraph = {
    nodes: [
      { op: 'Gather', inputs: ['scales', 'one_index'], outputs: ['length_scale'] },
      { op: 'Cast', inputs: ['x_length'], outputs: ['counted'], attributes: { to: { int: 1 } } },
      { op: 'Mul', inputs: ['counted', 'symbol_samples'], outputs: ['usual'] },
      { op: 'Mul', inputs: ['usual', 'length_scale'], outputs: ['lasting'] },
      { op: 'Squeeze', inputs: ['lasting'], outputs: ['limit'] },
      { op: 'Cast', inputs: ['sid'], outputs: ['speaker'], attributes: { to: { int: 1 } } },
      { op: 'Add', inputs: ['speaker', 'one'], outputs: ['times_higher'] },
      ...TONE,
      { op: 'Reshape', inputs: ['sound', 'shape'], outputs: ['y'] },
    ],
    initializers: [
      integers('one_index', [1]),
      integers('shape', [1, 1, -1]),
      floats('symbol_samples', [1], [SYMBOL_SAMPLES]),
      ...TONE_NUMBERS,
    ],
    inputs: [
      { name: 'x', type: 'int64', dims: ['N', 'L'] },
      { name: 'x_length', type: 'int64', dims: ['N'] },
      { name: 'scales', type: 'float32', dims: [3] },
      { name: 'sid', type: 'int64', dims: [1] },
    ],
    outputs: [{ name: 'y', type: 'float32', dims: ['N', 1, 'T'] }],
    metadata: {
      model_type: type,
      comment: 'coqui',
      frontend: 'characters',
      language: 'English',
      sample_rate: String(RATE),
      n_speakers: String(speakers),
      add_blank: '1',
      blank_id: '0',
      bos_id: '1',
      eos_id: '2',
      pad_id: '3',
      use_eos_bos: '1',
    },
  };
  const letters = ['_', '^', '$', '~', ' ', ...'.,!?abcdefghijklmnopqrstuvwxyz'];
  put(folder, { 'model.onnx': graph, 'tokens.txt': listed(letters) });
}

/** A text that the model of Matcha reads: it knows these characters. */
export const MATCHA_TEXT = '\u4f60\u597d\u670b\u53cb';
/** Frames of a symbol, and samples of a frame. */
const MATCHA = { frames: 20, samples: 200 };

/** Puts a Chinese model of Matcha into a folder: frames for each character, and a vocoder that makes a tone of them. */
export function installMatcha(folder: string): void {
  const characters = [...MATCHA_TEXT];
  const acoustic: OnnxGraph = {
    nodes: [
      { op: 'Cast', inputs: ['x_length'], outputs: ['counted'], attributes: { to: { int: 1 } } },
      { op: 'Mul', inputs: ['counted', 'symbol_frames'], outputs: ['usual'] },
      { op: 'Mul', inputs: ['usual', 'length_scale'], outputs: ['lasting'] },
      { op: 'Cast', inputs: ['lasting'], outputs: ['frames'], attributes: { to: { int: 7 } } },
      { op: 'Concat', inputs: ['bands', 'frames'], outputs: ['shape'], attributes: { axis: { int: 0 } } },
      { op: 'Expand', inputs: ['nothing', 'shape'], outputs: ['mel'] },
    ],
    initializers: [floats('symbol_frames', [1], [MATCHA.frames]), integers('bands', [1, 80]), floats('nothing', [1, 1, 1], [0])],
    inputs: [
      { name: 'x', type: 'int64', dims: ['N', 'L'] },
      { name: 'x_length', type: 'int64', dims: ['N'] },
      { name: 'noise_scale', type: 'float32', dims: [1] },
      { name: 'length_scale', type: 'float32', dims: [1] },
    ],
    outputs: [{ name: 'mel', type: 'float32', dims: ['N', 80, 'T'] }],
    metadata: {
      model_type: 'matcha-tts',
      language: 'Chinese',
      voice: 'zh',
      jieba: '1',
      has_espeak: '0',
      use_eos_bos: '0',
      pad_id: '0',
      add_blank: '0',
      n_speakers: '1',
      sample_rate: String(RATE),
      num_ode_steps: '3',
      version: '1',
    },
  };
  const vocoder: OnnxGraph = {
    nodes: [
      { op: 'Shape', inputs: ['mel'], outputs: ['shape'] },
      { op: 'Gather', inputs: ['shape', 'last'], outputs: ['frames'] },
      { op: 'Cast', inputs: ['frames'], outputs: ['counted'], attributes: { to: { int: 1 } } },
      { op: 'Mul', inputs: ['counted', 'frame_samples'], outputs: ['limit'] },
      { op: 'Identity', inputs: ['one'], outputs: ['times_higher'] },
      ...TONE,
      { op: 'Reshape', inputs: ['sound', 'row'], outputs: ['audio'] },
    ],
    initializers: [integers('last', 2), floats('frame_samples', [], [MATCHA.samples]), integers('row', [1, 1, -1]), ...TONE_NUMBERS],
    inputs: [{ name: 'mel', type: 'float32', dims: ['N', 80, 'T'] }],
    outputs: [{ name: 'audio', type: 'float32', dims: ['N', 1, 'S'] }],
    metadata: { model_type: 'hifigan' },
  };
  const lexicon = characters.map((character, at) => `${character} sound${at}\n`).join('');
  const sounds = characters.map((_character, at) => `sound${at}`);
  const tokens = listed(['_', ...'\uff0c\u3002\uff01\uff1f', ...sounds]);
  put(folder, { 'model-steps-3.onnx': acoustic, 'hifigan_v2.onnx': vocoder, 'lexicon.txt': lexicon, 'tokens.txt': tokens });
}

/** Puts a model of Kitten with two speakers into a folder, the second an octave above the first; it needs the data of espeak-ng. */
export function installKitten(folder: string): void {
  const graph: OnnxGraph = {
    nodes: [
      { op: 'Shape', inputs: ['input_ids'], outputs: ['shape'] },
      { op: 'Gather', inputs: ['shape', 'last'], outputs: ['symbols'] },
      { op: 'Cast', inputs: ['symbols'], outputs: ['counted'], attributes: { to: { int: 1 } } },
      { op: 'Mul', inputs: ['counted', 'symbol_samples'], outputs: ['usual'] },
      { op: 'Div', inputs: ['usual', 'speed'], outputs: ['lasting'] },
      { op: 'Squeeze', inputs: ['lasting'], outputs: ['limit'] },
      { op: 'ReduceMax', inputs: ['style'], outputs: ['times_higher'], attributes: { keepdims: { int: 0 } } },
      ...TONE,
      { op: 'Identity', inputs: ['sound'], outputs: ['waveform'] },
    ],
    initializers: [integers('last', 1), floats('symbol_samples', [], [SYMBOL_SAMPLES]), ...TONE_NUMBERS],
    inputs: [
      { name: 'input_ids', type: 'int64', dims: ['N', 'L'] },
      { name: 'style', type: 'float32', dims: ['N', 2] },
      { name: 'speed', type: 'float32', dims: [1] },
    ],
    outputs: [{ name: 'waveform', type: 'float32', dims: ['S'] }],
    metadata: {
      model_type: 'kitten-tts',
      language: 'English',
      voice: 'en-us',
      has_espeak: '1',
      n_speakers: '2',
      speaker_names: 'low,high',
      style_dim: '1,2',
      sample_rate: String(RATE),
      version: '1',
    },
  };
  const sounds = [
    '$',
    ';',
    ':',
    ',',
    '.',
    '!',
    '?',
    ' ',
    ...'abdefhijklmnopqrstuvwxyz\u00e6\u00f0\u014b\u0251\u0254\u0259\u025a\u025b\u025c\u0261\u026a\u0279\u0283\u028a\u028c\u0292\u02c8\u02cc\u02d0\u03b8',
  ];
  const voices = new Uint8Array(Float32Array.of(1, 0, 2, 0).buffer);
  put(folder, { 'model.fp16.onnx': graph, 'voices.bin': voices, 'tokens.txt': listed(sounds) });
}
