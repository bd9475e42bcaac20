import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { floats, integers, type OnnxGraph, writeOnnx } from '../models/writers/onnx-writer.js';

const RATE = 22_050;
/** Samples that each number lasts at speed 1. */
const NUMBER_SAMPLES = 512;
/** Hertz of the first speaker's tone; that of each further one is as much higher. */
export const PIPER_TONE = 200;

/** A graph of the shape of Piper's voices: a tone for each number, as high as its speaker's. */
function graph(hasSpeakers: boolean): OnnxGraph {
  return {
    nodes: [
      { op: 'Gather', inputs: ['scales', 'one_index'], outputs: ['length_scale'] },
      { op: 'Cast', inputs: ['input_lengths'], outputs: ['counted'], attributes: { to: { int: 1 } } },
      { op: 'Mul', inputs: ['counted', 'number_samples'], outputs: ['usual'] },
      { op: 'Mul', inputs: ['usual', 'length_scale'], outputs: ['lasting'] },
      { op: 'Squeeze', inputs: ['lasting'], outputs: ['limit'] },
      { op: 'Range', inputs: ['zero', 'limit', 'one'], outputs: ['times'] },
      ...(hasSpeakers
        ? [
            { op: 'Cast', inputs: ['sid'], outputs: ['speaker'], attributes: { to: { int: 1 } } },
            { op: 'Add', inputs: ['speaker', 'one'], outputs: ['times_higher'] },
            { op: 'Mul', inputs: ['pitch', 'times_higher'], outputs: ['height'] },
          ]
        : [{ op: 'Identity', inputs: ['pitch'], outputs: ['height'] }]),
      { op: 'Mul', inputs: ['times', 'height'], outputs: ['angle'] },
      { op: 'Sin', inputs: ['angle'], outputs: ['wave'] },
      { op: 'Mul', inputs: ['wave', 'loudness'], outputs: ['sound'] },
      { op: 'Reshape', inputs: ['sound', 'shape'], outputs: ['output'] },
    ],
    initializers: [
      integers('one_index', [1]),
      integers('shape', [1, 1, 1, -1]),
      floats('number_samples', [1], [NUMBER_SAMPLES]),
      floats('zero', [], [0]),
      floats('one', [], [1]),
      floats('pitch', [1], [(2 * Math.PI * PIPER_TONE) / RATE]),
      floats('loudness', [], [0.3]),
    ],
    inputs: [
      { name: 'input', type: 'int64', dims: ['batch_size', 'phonemes'] },
      { name: 'input_lengths', type: 'int64', dims: ['batch_size'] },
      { name: 'scales', type: 'float32', dims: [3] },
      ...(hasSpeakers ? [{ name: 'sid', type: 'int64' as const, dims: ['batch_size'] }] : []),
    ],
    outputs: [{ name: 'output', type: 'float32', dims: ['batch_size', 1, 1, 'time'] }],
  };
}

/** What the settings of a tiny voice say beside what all have. */
export interface TinyPiper {
  /** As espeak-ng calls it; `en-us` where not given. */
  readonly espeak?: string;
  /** BCP 47 with an underscore; `en_US` where not given. */
  readonly language?: string;
  readonly speakers?: Readonly<Record<string, number>>;
  readonly readsLetters?: boolean;
}

/** Puts a voice of Piper's shape at a path that ends in `.onnx`, with its settings beside it. */
export function installPiper(path: string, { espeak = 'en-us', language = 'en_US', speakers, readsLetters }: TinyPiper = {}): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, writeOnnx(graph(speakers !== undefined)));
  const symbols = ['_', '^', '$', ' ', ...'.,!?abcdefhijklmnopqrstuvwxyzæðŋɑɐɔəɚɛɜɡɪɹɾʃʊʌʒθˈˌː'];
  const settings = {
    audio: { sample_rate: RATE, quality: 'medium' },
    espeak: { voice: espeak },
    inference: { noise_scale: 0.667, length_scale: 1, noise_w: 0.8 },
    phoneme_type: readsLetters ? 'text' : 'espeak',
    phoneme_id_map: Object.fromEntries(symbols.map((symbol, number) => [symbol, [number]])),
    num_speakers: speakers === undefined ? 1 : Object.keys(speakers).length,
    speaker_id_map: speakers ?? {},
    language: { code: language },
  };
  writeFileSync(`${path}.json`, JSON.stringify(settings));
}

/** Where a published voice lies in a hub cache. */
export function hubPiper(hub: string, name: string): string {
  const [, language, country, recorded, quality] = /^([a-z]+)_([A-Z]+)-(\w+)-(\w+)$/.exec(name)!;
  const place = `snapshots/${'0'.repeat(40)}/${language}/${language}_${country}/${recorded}/${quality}`;
  return join(hub, 'models--rhasspy--piper-voices', place, `${name}.onnx`);
}
