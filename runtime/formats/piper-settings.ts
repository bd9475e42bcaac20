import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../base/json.js';
import { type Json, readJsonFile, wrongFile } from './model-files.js';

/** Bytes of the settings; a voice of nine hundred speakers has 40 kB. */
const LIMIT_BYTES = 1024 * 1024;
const RATES = [8000, 48_000] as const;
/** Numbers of symbols that a graph may know. */
const SYMBOL_LIMIT = 100_000;

/** What lies beside a graph of Piper, under its name with `.json` behind it. */
export interface PiperSettings {
  /** Samples a second. */
  readonly rate: number;
  /** BCP 47, such as `en-US`. */
  readonly language: string;
  /** The quality of the recordings, such as `medium`; empty where nobody says. */
  readonly quality: string;
  /** The voice of espeak-ng whose symbols the model learnt, such as `en-us`; null where it reads letters. */
  readonly espeak: string | null;
  /** How lively it speaks, how long, and how much the lengths vary. */
  readonly scales: readonly [noise: number, length: number, lengthNoise: number];
  /** Numbers of each symbol. */
  readonly symbols: ReadonlyMap<string, readonly number[]>;
  /** Numbers by name; empty for a voice of one speaker. */
  readonly speakers: ReadonlyMap<string, number>;
}

/** The file with a graph's settings. */
export const piperSettingsFile = (graph: string): string => `${graph}.json`;

/** Reads the settings of a graph. Throws `invalid` that names the file and what is wrong. */
export function readPiperSettings(folder: string, graph: string): PiperSettings {
  const path = join(folder, ...graph.split('/'));
  const [place, name] = [dirname(path), piperSettingsFile(graph.slice(graph.lastIndexOf('/') + 1))];
  const wrong = (what: string): Error => wrongFile(place, name, what);
  if ((statSync(join(place, name), { throwIfNoEntry: false })?.size ?? 0) > LIMIT_BYTES) throw wrong(`has more than ${LIMIT_BYTES} bytes`);
  const json = readJsonFile(place, name);
  if (!json) throw wrong('is not there, which says how the voice is spoken');
  const part = (key: string): Json => (isObject(json[key]) ? json[key] : {});
  const rate = Number(part('audio').sample_rate);
  if (!(rate >= RATES[0] && rate <= RATES[1])) throw wrong(`has no audio.sample_rate from ${RATES[0]} to ${RATES[1]}`);
  const readsLetters = json.phoneme_type === 'text';
  const espeak = String(part('espeak').voice ?? 'en-us');
  if (!/^[A-Za-z0-9_+-]{1,40}$/.test(espeak)) throw wrong('names no voice in espeak.voice');
  const code = part('language').code ?? espeak;
  const { noise_scale, length_scale, noise_w } = part('inference');
  return {
    rate,
    language: String(code).slice(0, 40).replace('_', '-'),
    quality: String(part('audio').quality ?? '').slice(0, 20),
    espeak: readsLetters ? null : espeak,
    scales: [scale(noise_scale, 0.667), scale(length_scale, 1), scale(noise_w, 0.8)],
    symbols: symbolsOf(part('phoneme_id_map'), wrong),
    speakers: speakersOf(part('speaker_id_map'), Number(json.num_speakers ?? 1), wrong),
  };
}

const scale = (value: unknown, usual: number): number => (typeof value === 'number' && value > 0 && value < 10 ? value : usual);

const isNumber = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0 && (value as number) < SYMBOL_LIMIT;

function symbolsOf(map: Json, wrong: (what: string) => Error): Map<string, number[]> {
  const symbols = new Map<string, number[]>();
  for (const [symbol, value] of Object.entries(map)) {
    const numbers: unknown[] = Array.isArray(value) ? value : [value];
    if (!numbers.every(isNumber)) throw wrong(`gives no number for the symbol "${symbol.slice(0, 20)}"`);
    symbols.set(symbol, numbers);
  }
  if (symbols.size === 0) throw wrong('has no phoneme_id_map');
  return symbols;
}

function speakersOf(map: Json, count: number, wrong: (what: string) => Error): Map<string, number> {
  const named = Object.entries(map);
  if (!named.every(([, value]) => isNumber(value))) throw wrong('gives a speaker no number');
  if (!(count > 1 && count < SYMBOL_LIMIT)) return new Map();
  if (named.length > 0) return new Map(named as [string, number][]);
  return new Map(Array.from({ length: count }, (_, number) => [String(number), number]));
}
