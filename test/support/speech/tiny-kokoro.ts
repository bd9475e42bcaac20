import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { floats, integers, type OnnxGraph, writeOnnx } from '../../../models/writers/onnx-writer.js';

/** How an export of Kokoro calls its inputs and outputs, and what it tells beside the sound. */
export interface Export {
  readonly symbols: 'tokens' | 'input_ids';
  readonly sound: 'audio' | 'waveform';
  /** Frames of each symbol. */
  readonly durations: boolean;
}

/** The exports that there are. */
export const EXPORTS: Readonly<Record<string, Export>> = {
  'of the model repository': { symbols: 'input_ids', sound: 'waveform', durations: false },
  'of the first release': { symbols: 'tokens', sound: 'audio', durations: false },
  'with durations': { symbols: 'input_ids', sound: 'waveform', durations: true },
};

/** Samples that each symbol lasts at speed 1: two frames. */
export const SYMBOL_SAMPLES = 1200;
const STYLE = 256;

/** A graph of Kokoro's shape: a tone for each symbol, as high as the mean of the voice's style says. */
function graph({ symbols, sound, durations }: Export): OnnxGraph {
  return {
    nodes: [
      { op: 'Shape', inputs: [symbols], outputs: ['shape'] },
      { op: 'Gather', inputs: ['shape', 'one_index'], outputs: ['count'] },
      { op: 'Cast', inputs: ['count'], outputs: ['counted'], attributes: { to: { int: 1 } } },
      { op: 'Mul', inputs: ['counted', 'symbol_samples'], outputs: ['usual'] },
      { op: 'Div', inputs: ['usual', 'speed'], outputs: ['lasting'] },
      { op: 'Squeeze', inputs: ['lasting'], outputs: ['limit'] },
      { op: 'Range', inputs: ['zero', 'limit', 'one'], outputs: ['times'] },
      { op: 'ReduceMean', inputs: ['style'], outputs: ['pitch'], attributes: { keepdims: { int: 0 } } },
      { op: 'Mul', inputs: ['times', 'pitch'], outputs: ['angle'] },
      { op: 'Sin', inputs: ['angle'], outputs: ['wave'] },
      { op: 'Mul', inputs: ['wave', 'loudness'], outputs: [sound] },
      ...(durations ? [{ op: 'Expand', inputs: ['two', 'count'], outputs: ['duration'] }] : []),
    ],
    initializers: [
      integers('one_index', [1]),
      integers('two', [2]),
      floats('symbol_samples', [1], [SYMBOL_SAMPLES]),
      floats('zero', [], [0]),
      floats('one', [], [1]),
      floats('loudness', [], [0.3]),
    ],
    inputs: [
      { name: symbols, type: 'int64', dims: [1, 'sequence_length'] },
      { name: 'style', type: 'float32', dims: [1, STYLE] },
      { name: 'speed', type: 'float32', dims: [1] },
    ],
    outputs: [
      { name: sound, type: 'float32', dims: ['num_samples'] },
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
