import { join } from 'node:path';
import { loadCore } from '../../../../native/loader.js';
import { Failure } from '../../../../schemas/errors.js';
import { type PiperSettings, readPiperSettings } from '../../../formats/piper-settings.js';
import { type Phrase, type Saying, type Sound, SPEECH_RATE, type VoiceEngine, type VoiceFiles } from '../../contracts/speaking.js';
import type { OnnxSession, Tensor } from '../../onnx/contract.js';
import { float32Of } from '../../onnx/float16.js';
import { openSession } from '../../onnx/session.js';
import { pushAll } from '../samples.js';
import { planSounds, planText } from '../text/plan.js';
import type { Accent } from '../text/sounds.js';
import { espeakSymbols } from './espeak.js';

/** What every graph of Piper takes. */
const INPUTS = ['input', 'input_lengths', 'scales'];
/** The number of the speaker, where there are several. */
const SPEAKER = 'sid';
/** Symbols of a phrase that are spoken; a phrase of other languages has as many letters at most. */
const MOST_SYMBOLS = 2000;
const [BEFORE, BETWEEN, BEHIND] = ['^', '_', '$'];

/** A voice of Piper (a VITS graph) on ONNX Runtime: symbols of espeak-ng, or letters, to samples. */
class Piper implements VoiceEngine {
  readonly devices: VoiceEngine['devices'];
  readonly speeds = [0.5, 2] as const;
  readonly #session: OnnxSession;
  readonly #settings: PiperSettings;

  constructor(session: OnnxSession, settings: PiperSettings) {
    const has = session.inputs.map(({ name }) => name);
    const lacking = INPUTS.filter((name) => !has.includes(name));
    if (lacking.length > 0)
      throw new Failure(
        'invalid',
        `${session.file} is no voice of Piper: it has no input ${lacking.join(', ')}; it has ${has.join(', ')}.`,
      );
    this.#session = session;
    this.#settings = settings;
    const { requested, available, used, why } = session.providers;
    this.devices = { requested, available: [...available], used: [...used], why };
  }

  plan(text: string): Phrase[] {
    const { espeak } = this.#settings;
    return isEnglish(espeak) ? planEspeakSounds(text, /gb|rp|sc/i.test(espeak) ? 'GB' : 'US') : planText(text);
  }

  async say({ script, voice, speed }: Saying): Promise<Sound> {
    const { espeak, scales, rate } = this.#settings;
    const [noise, length, lengthNoise] = scales;
    const numbers = this.#numbers(espeak === null || isEnglish(espeak) ? script : await espeakSymbols(script, espeak));
    const whole = (dims: number[], values: readonly number[]): Tensor => ({
      type: 'int64',
      dims,
      data: BigInt64Array.from(values, BigInt),
    });
    const results = await this.#session.run({
      input: whole([1, numbers.length], numbers),
      input_lengths: whole([1], [numbers.length]),
      scales: { type: 'float32', dims: [3], data: Float32Array.of(noise, length / speed, lengthNoise) },
      ...(this.#session.inputs.some(({ name }) => name === SPEAKER) && { [SPEAKER]: whole([1], [this.#speaker(voice)]) }),
    });
    const own = float32Of(results[this.#session.outputs[0]!.name]!);
    if (own.length === 0 || !own.every(Number.isFinite)) throw new Failure('model_failed', `${this.#session.file} made no sound.`);
    return { samples: rate === SPEECH_RATE ? own : pushAll(loadCore().openResampler(rate, SPEECH_RATE), own) };
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  /** The numbers of a script's symbols, with the pause symbol between; symbols that the voice does not know are left out. */
  #numbers(script: string): number[] {
    const { symbols } = this.#settings;
    const between = symbols.get(BETWEEN!) ?? [];
    const known = [...script.normalize('NFD')].flatMap((symbol) => symbols.get(symbol) ?? symbols.get(symbol.toLowerCase()) ?? []);
    const spoken = known.slice(0, MOST_SYMBOLS).flatMap((number) => [number, ...between]);
    return [...(symbols.get(BEFORE!) ?? []), ...between, ...spoken, ...(symbols.get(BEHIND!) ?? [])];
  }

  /** A voice's name ends in its speaker's, after a colon. */
  #speaker(voice: string): number {
    const { speakers } = this.#settings;
    if (speakers.size === 0) return 0;
    const number = speakers.get(voice.slice(voice.indexOf(':') + 1));
    if (number === undefined) throw new Failure('not_found', `There is no voice "${voice}".`, { code: 'VoiceNotFound' });
    return number;
  }
}

const isEnglish = (espeak: string | null): espeak is string => espeak !== null && /^en\b/i.test(espeak);

/** Opens a voice of Piper; its settings lie beside the graph. Throws `invalid` for a graph or settings that are none. */
export async function openPiper({ folder, graph, threads, device }: VoiceFiles): Promise<VoiceEngine> {
  const settings = readPiperSettings(folder!, graph!);
  const options = { threads, provider: device, shapesVary: true, folder: folder! };
  return new Piper(await openSession(join(folder!, ...graph!.split('/')), options), settings);
}

/** Symbols of a phrase at most. */
const MOST_PHRASE_SYMBOLS = 500;

/** Symbols that stand for two sounds, and the same written as espeak-ng does. */
const BOTH: readonly (readonly [RegExp, string])[] = [
  [/A/g, 'eɪ'],
  [/I/g, 'aɪ'],
  [/W/g, 'aʊ'],
  [/Y/g, 'ɔɪ'],
  [/ʤ/g, 'dʒ'],
  [/ʧ/g, 'tʃ'],
  [/ᵊ/g, 'ə'],
];

/** espeak-ng marks long vowels in both; "i" is long under a stress and in short words. */
const OF_ACCENT: Readonly<Record<Accent, readonly (readonly [RegExp, string])[]>> = {
  US: [
    [/O/g, 'oʊ'],
    [/T/g, 'ɾ'],
    [/ɜɹ/g, 'ɜː'],
    [/əɹ/g, 'ɚ'],
    [/([ɑɔu])/g, '$1ː'],
    [/([ˈˌ])i/g, '$1iː'],
    [/^([^aeiouæɐɑɒɔəɚɛɜɪʊʌ]*)i$/u, '$1iː'],
  ],
  GB: [
    [/Q/g, 'əʊ'],
    [/ɛː/g, 'eə'],
  ],
};

/** A word in the symbols of Kokoro, as espeak-ng writes it. */
function espeakSounds(symbols: string, accent: Accent): string {
  return [...OF_ACCENT[accent], ...BOTH].reduce((text, [from, to]) => text.replace(from, to), symbols);
}

/** The phrases of an English text for an engine that learnt the symbols of espeak-ng. */
function planEspeakSounds(text: string, accent: Accent): Phrase[] {
  return planSounds(text, accent, MOST_PHRASE_SYMBOLS).map((phrase) => {
    const symbols = [...phrase.script];
    let at = 0;
    const parts = phrase.words.map(({ word, length }) => {
      const part = symbols.slice(at, at + length).join('');
      at += length;
      const script = part.replace(/[^\s.,;:!?…—]+/g, (sounds) => espeakSounds(sounds, accent));
      return { word, script };
    });
    return {
      ...phrase,
      script: parts.map(({ script }) => script).join(''),
      words: parts.map(({ word, script }) => ({ word, length: [...script].length })),
    };
  });
}
