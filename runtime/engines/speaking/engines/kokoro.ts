import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../../schemas/errors.js';
import { type Saying, type Sound, SPEECH_RATE, type VoiceEngine, type VoiceFiles, type WordTime } from '../../contracts/speaking.js';
import type { OnnxSession, Tensor, TensorSlot } from '../../onnx/contract.js';
import { float32Of, floatTensor } from '../../onnx/float16.js';
import { openSession } from '../../onnx/session.js';
import { planSounds } from '../text/plan.js';
import type { Accent } from '../text/sounds.js';

/** Numbers of one style, of which a voice has one for each number of symbols. */
const STYLE = 256;
/** Exports call the symbols and the sound by different names. */
const SYMBOL_INPUTS = ['input_ids', 'tokens'];
const SOUND_OUTPUTS = ['waveform', 'audio'];
/** How long each symbol lasts, in frames; newer exports have it. */
const DURATION_OUTPUTS = ['duration', 'durations', 'pred_dur'];
/** Voices in memory, 0.5 MB each. */
const KEPT_VOICES = 64;

/** Kokoro on ONNX Runtime: symbols of sounds and a voice's style to samples. */
class Kokoro implements VoiceEngine {
  readonly devices: VoiceEngine['devices'];
  readonly speeds = [0.5, 2] as const;
  readonly #session: OnnxSession;
  readonly #folder: string;
  readonly #symbols: TensorSlot;
  readonly #style: TensorSlot;
  readonly #speed: TensorSlot;
  readonly #sound: string;
  readonly #duration: string | undefined;
  readonly #voices = new Map<string, Float32Array>();

  constructor(session: OnnxSession, folder: string) {
    this.#session = session;
    this.#folder = folder;
    this.#symbols = inputOf(session, SYMBOL_INPUTS);
    this.#speed = inputOf(session, ['speed']);
    this.#style = inputOf(session, ['style']);
    this.#sound = outputOf(session, SOUND_OUTPUTS) ?? session.outputs[0]?.name ?? '';
    this.#duration = outputOf(session, DURATION_OUTPUTS);
    const { requested, available, used, why } = session.providers;
    this.devices = { requested, available: [...available], used: [...used], why };
  }

  plan(text: string, voice: string): ReturnType<VoiceEngine['plan']> {
    return planSounds(text, accentOf(voice), MOST_SYMBOLS);
  }

  async say({ script, words, voice, speed }: Saying): Promise<Sound> {
    const style = await this.#voice(voice);
    const numbers = symbolNumbers(script).slice(0, MOST_SYMBOLS);
    const known = numbers.filter((number) => number !== undefined);
    const row = Math.min(known.length, style.length / STYLE - 1);
    const results = await this.#session.run({
      [this.#symbols.name]: wholeNumbers(this.#symbols, [0, ...known, 0]),
      style: floatTensor(this.#style.type, [1, STYLE], style.slice(row * STYLE, (row + 1) * STYLE)),
      speed: speedTensor(this.#speed, speed),
    });
    const samples = float32Of(results[this.#sound]!);
    if (samples.length === 0 || !samples.every(Number.isFinite)) throw new Failure('model_failed', `${this.#session.file} made no sound.`);
    const frames = this.#duration === undefined ? undefined : [...results[this.#duration]!.data].map(Number);
    return { samples, ...(frames?.length === known.length + 2 && { words: wordTimes(numbers, words, frames, samples.length) }) };
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #voice(name: string): Promise<Float32Array> {
    const kept = this.#voices.get(name);
    if (kept) return kept;
    if (!/^[a-z0-9_]{1,64}$/.test(name)) throw new Failure('not_found', `There is no voice "${name}".`, { code: 'VoiceNotFound' });
    const bytes = await readFile(join(this.#folder, 'voices', `${name}.bin`));
    if (bytes.length === 0 || bytes.length % (4 * STYLE) !== 0)
      throw new Failure(
        'invalid',
        `voices/${name}.bin has ${bytes.length} bytes, which are no styles of ${STYLE} numbers; pull the model again.`,
      );
    const style = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    if (this.#voices.size >= KEPT_VOICES) this.#voices.clear();
    this.#voices.set(name, style);
    return style;
  }
}

const accentOf = (voice: string): Accent => (voice.startsWith('b') ? 'GB' : 'US');

function inputOf(session: OnnxSession, names: readonly string[]): TensorSlot {
  const found = session.inputs.find(({ name }) => names.includes(name));
  if (found) return found;
  const has = session.inputs.map(({ name }) => name).join(', ');
  throw new Failure('invalid', `${session.file} is no export of Kokoro: it has no input ${names.join(' or ')}; it has ${has}.`);
}

const outputOf = (session: OnnxSession, names: readonly string[]): string | undefined =>
  session.outputs.find(({ name }) => names.includes(name))?.name;

function wholeNumbers({ type }: TensorSlot, values: readonly number[]): Tensor {
  const dims = [1, values.length];
  return type === 'int32'
    ? { type, dims, data: Int32Array.from(values) }
    : { type: 'int64', dims, data: BigInt64Array.from(values, BigInt) };
}

/** Some exports take the speed as a whole number, and are spoken at the nearest. */
function speedTensor({ type, dims: wanted }: TensorSlot, value: number): Tensor {
  const dims = wanted.length === 0 ? [] : [1];
  return type === 'int32'
    ? { type, dims, data: Int32Array.of(Math.max(1, Math.round(value))) }
    : floatTensor(type, dims, Float32Array.of(value));
}

/** When each word sounds, by the frames of its symbols; the space and the mark behind it are left out. */
function wordTimes(
  numbers: readonly (number | undefined)[],
  words: Saying['words'],
  frames: readonly number[],
  samples: number,
): WordTime[] {
  const second = samples / frames.reduce((sum, count) => sum + count, 0) / SPEECH_RATE;
  const isSilent = (number: number | undefined): boolean => number === undefined || number <= 16;
  let at = 0;
  let known = 1;
  let frame = frames[0]!;
  return words.map(({ word, length }) => {
    let [start, end] = [-1, -1];
    for (const stop = Math.min(at + length, numbers.length); at < stop; at += 1) {
      if (numbers[at] === undefined) continue;
      if (!isSilent(numbers[at]) && start < 0) start = frame;
      frame += frames[known]!;
      known += 1;
      if (!isSilent(numbers[at])) end = frame;
    }
    return { word, start: Math.max(0, start < 0 ? frame : start) * second, end: Math.max(0, end < 0 ? frame : end) * second };
  });
}

/** Opens an export of Kokoro; `voices/` lies beside the folder's graphs. Throws `invalid` for a graph that is none. */
export async function openKokoro({ folder, graph, threads, device }: VoiceFiles): Promise<VoiceEngine> {
  const options = { threads, provider: device, shapesVary: true, floatConvolutions: true, folder: folder! };
  return new Kokoro(await openSession(join(folder!, graph!), options), folder!);
}

/** The numbers of the symbols that Kokoro was trained on; 0 stands before and behind them. */
const NUMBERS: Readonly<Record<string, number>> = {
  ';': 1, ':': 2, ',': 3, '.': 4, '!': 5, '?': 6, '—': 9, '…': 10, '"': 11, '(': 12, ')': 13, '“': 14, '”': 15, ' ': 16, '\u0303': 17, ʣ: 18, ʥ: 19, ʦ: 20, ʨ: 21, ᵝ: 22, ꭧ: 23, A: 24, I: 25, O: 31, Q: 33, S: 35, T: 36, W: 39, Y: 41,
  ᵊ: 42, a: 43, b: 44, c: 45, d: 46, e: 47, f: 48, h: 50, i: 51, j: 52, k: 53, l: 54, m: 55, n: 56, o: 57, p: 58, q: 59, r: 60, s: 61, t: 62, u: 63, v: 64, w: 65, x: 66, y: 67, z: 68, ɑ: 69, ɐ: 70, ɒ: 71, æ: 72, β: 75, ɔ: 76, ɕ: 77,
  ç: 78, ɖ: 80, ð: 81, ʤ: 82, ə: 83, ɚ: 85, ɛ: 86, ɜ: 87, ɟ: 90, ɡ: 92, ɥ: 99, ɨ: 101, ɪ: 102, ʝ: 103, ɯ: 110, ɰ: 111, ŋ: 112, ɳ: 113, ɲ: 114, ɴ: 115, ø: 116, ɸ: 118, θ: 119, œ: 120, ɹ: 123, ɾ: 125, ɻ: 126, ʁ: 128, ɽ: 129, ʂ: 130,
  ʃ: 131, ʈ: 132, ʧ: 133, ʊ: 135, ʋ: 136, ʌ: 138, ɣ: 139, ɤ: 140, χ: 142, ʎ: 143, ʒ: 147, ʔ: 148, ˈ: 156, ˌ: 157, ː: 158, ʰ: 162, ʲ: 164, '↓': 169, '→': 171, '↗': 172, '↘': 173, ᵻ: 177,
}; // biome-ignore format: a table

/** Symbols that the model takes at a time. */
const MOST_SYMBOLS = 508;

/** The numbers of a script's symbols; one that the model does not know is left out, with an undefined in its place. */
export const symbolNumbers = (script: string): (number | undefined)[] => [...script].map((symbol) => NUMBERS[symbol]);
