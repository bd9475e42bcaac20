import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { floats, integers, type OnnxGraph, writeOnnx } from '../models/writers/onnx-writer.js';

/** How an export of Kokoro calls its inputs and outputs, and what it tells beside the sound. */
export interface Export {
  readonly symbols: 'tokens' | 'input_ids';
  readonly sound: 'audio' | 'waveform';
  /** Frames of each symbol: one, two or three, as its number says; without them all symbols have two. */
  readonly durations: boolean;
  /** Floats of 16 bits go in and come out. */
  readonly isHalf?: boolean;
}

/** The exports that there are. */
export const EXPORTS: Readonly<Record<string, Export>> = {
  'of the model repository': { symbols: 'input_ids', sound: 'waveform', durations: false },
  'of the first release': { symbols: 'tokens', sound: 'audio', durations: false },
  'of 16-bit floats': { symbols: 'input_ids', sound: 'waveform', durations: false, isHalf: true },
  'of 16-bit floats with durations': { symbols: 'input_ids', sound: 'waveform', durations: true, isHalf: true },
  'with durations': { symbols: 'input_ids', sound: 'waveform', durations: true },
};

/** Samples of a frame at speed 1. */
export const FRAME_SAMPLES = 600;
/** Frames of a symbol in an export with durations. */
export const framesOf = (symbol: number): number => (symbol % 3) + 1;
const STYLE = 256;

/** A graph of Kokoro's shape: a tone for each symbol, as high as the mean of the voice's style says. */
function graph({ symbols, sound, durations, isHalf = false }: Export): OnnxGraph {
  const type = isHalf ? 'float16' : 'float32';
  const cast = (from: string, to: string, number: number) => ({
    op: 'Cast',
    inputs: [from],
    outputs: [to],
    attributes: { to: { int: number } },
  });
  return {
    nodes: [
      { op: 'Flatten', inputs: [symbols], outputs: ['row'], attributes: { axis: { int: 0 } } },
      { op: 'Mod', inputs: ['row', 'three'], outputs: ['rest'] },
      { op: 'Mul', inputs: ['rest', durations ? 'one_index' : 'none'], outputs: ['varied'] },
      { op: 'Add', inputs: ['varied', durations ? 'one_index' : 'two'], outputs: ['frames'] },
      { op: 'Reshape', inputs: ['frames', 'flat'], outputs: ['duration'] },
      { op: 'ReduceSum', inputs: ['duration'], outputs: ['count'], attributes: { keepdims: { int: 1 } } },
      cast('count', 'counted', 1),
      cast('speed', 'pace', 1),
      cast('style', 'voice', 1),
      { op: 'Mul', inputs: ['counted', 'frame_samples'], outputs: ['usual'] },
      { op: 'Div', inputs: ['usual', 'pace'], outputs: ['lasting'] },
      { op: 'Squeeze', inputs: ['lasting'], outputs: ['limit'] },
      { op: 'Range', inputs: ['zero', 'limit', 'one'], outputs: ['times'] },
      { op: 'ReduceMean', inputs: ['voice'], outputs: ['pitch'], attributes: { keepdims: { int: 0 } } },
      { op: 'Mul', inputs: ['times', 'pitch'], outputs: ['angle'] },
      { op: 'Sin', inputs: ['angle'], outputs: ['wave'] },
      { op: 'Mul', inputs: ['wave', 'loudness'], outputs: ['loud'] },
      cast('loud', sound, isHalf ? 10 : 1),
    ],
    initializers: [
      integers('one_index', [1]),
      integers('two', [2]),
      integers('three', [3]),
      integers('none', [0]),
      integers('flat', [-1]),
      floats('frame_samples', [1], [FRAME_SAMPLES]),
      floats('zero', [], [0]),
      floats('one', [], [1]),
      floats('loudness', [], [0.3]),
    ],
    inputs: [
      { name: symbols, type: 'int64', dims: [1, 'sequence_length'] },
      { name: 'style', type, dims: [1, STYLE] },
      { name: 'speed', type, dims: [1] },
    ],
    outputs: [
      { name: sound, type, dims: ['num_samples'] },
      ...(durations ? [{ name: 'duration', type: 'int64' as const, dims: ['sequence_length'] }] : []),
    ],
  };
}

/** A voice whose tone has so many hertz. */
function voice(hertz: number): Buffer {
  const style = new Float32Array(510 * STYLE).fill((2 * Math.PI * hertz) / 24_000);
  return Buffer.from(style.buffer);
}

/** Tones of the voices that are put there. */
export const TONES: Readonly<Record<string, number>> = { af_heart: 200, af_bella: 300, bm_george: 100, af_alloy: 400 };

/** Puts a repository of Kokoro's shape into a folder, with a graph for each of the files named. */
export function installKokoro(folder: string, kind: Export, files: readonly string[] = ['onnx/model_quantized.onnx']): void {
  const write = (name: string, bytes: Uint8Array | string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  };
  for (const file of files) write(file, writeOnnx(graph(kind)));
  for (const [name, hertz] of Object.entries(TONES)) write(`voices/${name}.bin`, voice(hertz));
  write('config.json', '{"model_type": "style_text_to_speech_2"}');
}
