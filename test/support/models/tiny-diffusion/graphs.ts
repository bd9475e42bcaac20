import { floats, integers, type OnnxGraph, type OnnxNode, type OnnxValue } from '../writers/onnx-writer.js';

/** Pixels per latent along a side. */
export const SCALE = 8;
/** Between what the decoder takes and what the network works on. */
export const FACTOR = 0.5;
const CHANNELS = 4;
const TRAIN_STEPS = 1000;
/** What of a sample the network takes for the picture: the result shows a little of its seed. */
const ECHO = 0.15;
/** Width of the inputs that the network looks past. */
const FURTHER = 32;

const value = (name: string, dims: readonly (number | string)[], type: OnnxValue['type'] = 'float32'): OnnxValue => ({ name, type, dims });
const node = (op: string, inputs: readonly string[], output: string, attributes?: OnnxNode['attributes']): OnnxNode => {
  return { op, inputs, outputs: [output], ...(attributes ? { attributes } : {}) };
};

/** Rows of a table by token; the hidden states of a larger encoder where `large` says so. */
export function textGraph(rows: readonly (readonly number[])[], large: boolean): OnnxGraph {
  const width = rows[0]!.length;
  const names = large ? ['hidden_states.0', 'hidden_states.1', 'hidden_states.2'] : ['last_hidden_state'];
  return {
    nodes: [
      node('Gather', ['table', 'input_ids'], 'rows'),
      ...names.map((name) => node('Identity', ['rows'], name)),
      node('ReduceSum', ['rows', 'axes'], 'text_embeds', { keepdims: { int: 0 } }),
    ],
    initializers: [floats('table', [rows.length, width], rows.flat()), integers('axes', [1])],
    inputs: [value('input_ids', ['batch', 'length'], 'int64')],
    outputs: [...names.map((name) => value(name, ['batch', 'length', width])), value('text_embeds', ['batch', width])],
  };
}

/** The shares of signal and noise at each training step, for scaled-linear betas from 0.00085 to 0.012. */
function shares(): { signal: number[]; noise: number[] } {
  let left = 1;
  const [from, to] = [Math.sqrt(0.00085), Math.sqrt(0.012)];
  const all = Array.from({ length: TRAIN_STEPS }, (_, at) => {
    left *= 1 - (from + ((to - from) * at) / (TRAIN_STEPS - 1)) ** 2;
    return left;
  });
  return { signal: all.map(Math.sqrt), noise: all.map((share) => Math.sqrt(1 - share)) };
}

interface UnetOptions {
  readonly inputs: 4 | 9;
  readonly width: number;
  readonly large: boolean;
  readonly more?: readonly string[];
}

/**
 * A network that knows what the picture is: the sum of the text's rows as one colour, and a little of the sample. It gives the noise that is
 * left between the two. `inputs` = 9 takes a mask and a masked picture with the sample and looks past them, as past `more` inputs; `width` is that of the text's rows.
 */
export function unetGraph({ inputs, width, large, more = [] }: UnetOptions): OnnxGraph {
  const { signal, noise } = shares();
  return {
    nodes: [
      node('Cast', ['timestep'], 'step', { to: { int: 7 } }),
      node('Gather', ['signals', 'step'], 'signal'),
      node('Gather', ['noises', 'step'], 'noise'),
      node('ReduceSum', ['encoder_hidden_states', 'textAxes'], 'sum', { keepdims: { int: 0 } }),
      node('MatMul', ['sum', 'select'], 'chosen'),
      node('Unsqueeze', ['chosen', 'planeAxes'], 'colour'),
      node('Slice', ['sample', 'start', 'end', 'channelAxis'], 'own'),
      node('Mul', ['own', 'echo'], 'kept'),
      node('Add', ['colour', 'kept'], 'clean'),
      node('Mul', ['clean', 'signal'], 'shown'),
      node('Sub', ['own', 'shown'], 'left'),
      node('Div', ['left', 'noise'], 'out_sample'),
    ],
    initializers: [
      floats('signals', [TRAIN_STEPS], signal),
      floats('noises', [TRAIN_STEPS], noise),
      integers('textAxes', [1]),
      floats(
        'select',
        [width, CHANNELS],
        Array.from({ length: width * CHANNELS }, (_, at) => (Math.floor(at / CHANNELS) === at % CHANNELS ? 1 : 0)),
      ),
      integers('planeAxes', [2, 3]),
      integers('start', [0]),
      integers('end', [CHANNELS]),
      integers('channelAxis', [1]),
      floats('echo', [1], [ECHO]),
    ],
    inputs: [
      value('sample', ['batch', inputs, 'height', 'width']),
      value('timestep', [1]),
      value('encoder_hidden_states', ['batch', 'length', width]),
      ...(large ? [value('text_embeds', ['batch', CHANNELS]), value('time_ids', ['batch', 6])] : []),
      ...more.map((name) => value(name, ['batch', FURTHER])),
    ],
    outputs: [value('out_sample', ['batch', CHANNELS, 'height', 'width'])],
  };
}

/** Red, green and blue from the first three channels, each latent a square of pixels. */
export function decoderGraph(): OnnxGraph {
  return {
    nodes: [
      node('Conv', ['latent_sample', 'weights'], 'colours'),
      node('Resize', ['colours', '', 'scales'], 'sample', { mode: { text: 'nearest' } }),
    ],
    initializers: [floats('weights', [3, CHANNELS, 1, 1], diagonal(3, CHANNELS)), floats('scales', [4], [1, 1, SCALE, SCALE])],
    inputs: [value('latent_sample', ['batch', CHANNELS, 'height', 'width'])],
    outputs: [value('sample', ['batch', 3, 'pixel_height', 'pixel_width'])],
  };
}

/** The mean colour of each square; with `moments` the logarithm of a variance of almost nothing beside it. */
export function encoderGraph(moments: boolean): OnnxGraph {
  const size = { ints: [SCALE, SCALE] };
  const output = moments ? 'latent_parameters' : 'latent_sample';
  const weights = moments ? [...diagonal(CHANNELS, 3), ...Array<number>(CHANNELS * 3).fill(0)] : diagonal(CHANNELS, 3);
  const channels = moments ? CHANNELS * 2 : CHANNELS;
  const bias = Array.from({ length: channels }, (_, at) => (at < CHANNELS ? 0 : -30));
  return {
    nodes: [
      node('AveragePool', ['sample'], 'means', { kernel_shape: size, strides: size }),
      node('Conv', ['means', 'weights', 'bias'], output),
    ],
    initializers: [floats('weights', [channels, 3, 1, 1], weights), floats('bias', [channels], bias)],
    inputs: [value('sample', ['batch', 3, 'pixel_height', 'pixel_width'])],
    outputs: [value(output, ['batch', channels, 'height', 'width'])],
  };
}

function diagonal(rows: number, columns: number): number[] {
  return Array.from({ length: rows * columns }, (_, at) => (Math.floor(at / columns) === at % columns ? 1 : 0));
}
