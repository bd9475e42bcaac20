import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { graphMetadata } from './onnx/graph-file.js';

/** How models that speak are made, as sherpa-onnx names them. */
export type SherpaVoiceKind = 'vits' | 'matcha' | 'kokoro' | 'kitten';
/** How models that write down speech are made. */
export type SherpaEarKind =
  | 'transducer'
  | 'streamingTransducer'
  | 'whisper'
  | 'senseVoice'
  | 'paraformer'
  | 'nemoCtc'
  | 'zipformerCtc'
  | 'wenetCtc';

/** A folder with a model for sherpa-onnx, by its files; paths are relative. */
export interface SherpaFolder {
  readonly purpose: 'speaks' | 'hears';
  readonly kind: SherpaVoiceKind | SherpaEarKind;
  /** The graph that says what the model is. */
  readonly main: string;
  /** The other graphs by their part, such as `decoder`. */
  readonly graphs: Readonly<Record<string, string>>;
  readonly tokens: string;
  /** Of all graphs: main first. */
  readonly weights: readonly [string, ...string[]];
  /** What the main graph says about itself. */
  readonly metadata: ReadonlyMap<string, string>;
}

const TOKENS = /^(?:[^/]*-)?tokens\.txt$/;
const VOICES = 'voices.bin';
const SMALL = /int8/i;
/** What exports with one graph call themselves, with how they are opened. */
const BY_NAME: readonly (readonly [RegExp, SherpaVoiceKind | SherpaEarKind])[] = [
  [/^vits/i, 'vits'],
  [/^sense_?voice/i, 'senseVoice'],
  [/^paraformer/i, 'paraformer'],
  [/^EncDec.*(?:CTC|Hybrid)/i, 'nemoCtc'],
  [/^zipformer2?(?:_ctc)?$/i, 'zipformerCtc'],
  [/^wenet/i, 'wenetCtc'],
];
const SPEAKS: ReadonlySet<string> = new Set(['vits', 'matcha', 'kokoro', 'kitten']);

/** Whether a folder's files look like a model for sherpa-onnx: graphs at the top, with a list of symbols beside them. */
export const looksLikeSherpa = (files: readonly string[]): boolean =>
  files.some((file) => TOKENS.test(file)) && files.some((file) => /^[^/]+\.onnx$/i.test(file));

/** The graph at the top whose name matches; of several forms the one of eight bits where `small`, else the whole one. */
function pick(files: readonly string[], name: RegExp, small: boolean): string | undefined {
  const all = files.filter((file) => /^[^/]+\.onnx$/i.test(file) && name.test(file));
  return all.find((file) => SMALL.test(file) === small) ?? all[0];
}

/** What only models that speak have beside their graphs. */
const OF_VOICES = /^(?:voices\.bin|lexicon[^/]*\.txt|espeak-ng-data\/.*)$/;

/** The graphs that are opened of a folder, as far as its files tell. */
export function sherpaGraphs(files: readonly string[]): string[] {
  const parts = [/encoder/i, /decoder/i, /joiner/i].flatMap((name) => pick(files, name, true) ?? []);
  if (parts.length > 1) return parts;
  const graphs = sounding(files);
  return graphs.length > 1 || files.some((file) => OF_VOICES.test(file)) ? graphs : [pick(files, /./, true)!];
}

/** A graph that makes features of sounds, or sounds, and the one that makes sounds of those. */
const sounding = (files: readonly string[]): string[] =>
  [/^(?!.*(?:vocos|hifigan|vocoder))/i, /vocos|hifigan|vocoder/i].flatMap((name) => pick(files, name, false) ?? []);

/** The model of a folder; undefined where it is none for sherpa-onnx. Throws `invalid` for a graph that says nothing usable about itself. */
export function sherpaFolder(folder: string, files: readonly string[]): SherpaFolder | undefined {
  if (!looksLikeSherpa(files)) return undefined;
  const tokens = files.find((file) => TOKENS.test(file))!;
  const made = (kind: SherpaFolder['kind'], main: string, graphs: Record<string, string> = {}): SherpaFolder => ({
    purpose: SPEAKS.has(kind) ? 'speaks' : 'hears',
    kind,
    main,
    graphs,
    tokens,
    weights: [main, ...Object.values(graphs)],
    metadata: metadataOf(folder, main),
  });
  const [encoder, decoder, joiner] = [/encoder/i, /decoder/i, /joiner/i].map((name) => pick(files, name, true));
  if (encoder && decoder && joiner) {
    const isStreaming = metadataOf(folder, encoder).has('decode_chunk_len');
    return made(isStreaming ? 'streamingTransducer' : 'transducer', encoder, { decoder, joiner });
  }
  if (encoder && decoder) return made('whisper', encoder, { decoder });
  const [acoustic, vocoder] = sounding(files);
  if (vocoder && acoustic) return made('matcha', acoustic, { vocoder });
  if (files.includes(VOICES)) {
    const main = pick(files, /./, false)!;
    return made(/kitten/i.test(metadataOf(folder, main).get('model_type') ?? '') ? 'kitten' : 'kokoro', main);
  }
  const main = pick(files, /./, true)!;
  const type = metadataOf(folder, main).get('model_type') ?? '';
  const kind = BY_NAME.find(([name]) => name.test(type))?.[1];
  // Graphs of sounds are slower in eight bits.
  return kind && made(kind, kind === 'vits' ? pick(files, /./, false)! : main);
}

const metadataOf = (folder: string, graph: string): ReadonlyMap<string, string> => graphMetadata(join(folder, graph));

/** What exports call their languages, as BCP 47. */
const LANGUAGES: Readonly<Record<string, string>> = {
  english: 'en', german: 'de', french: 'fr', spanish: 'es', italian: 'it', portuguese: 'pt', dutch: 'nl', russian: 'ru', chinese: 'zh', japanese: 'ja', korean: 'ko',
}; // biome-ignore format: a table

/** The language that a model speaks, as BCP 47; `en` where its graph says nothing. */
export function sherpaLanguage({ metadata }: SherpaFolder): string {
  const [voice, language] = [metadata.get('voice') ?? '', (metadata.get('language') ?? '').toLowerCase()];
  const code = /^[a-z]{2,3}(?:-[a-z0-9]+)?$/.test(voice)
    ? voice
    : (Object.entries(LANGUAGES).find(([name]) => language.startsWith(name))?.[1] ?? 'en');
  return code.replace(/-([a-z]{2})$/, (_, country: string) => `-${country.toUpperCase()}`);
}

/** Speakers of a model that are offered. */
const SPEAKER_LIMIT = 2000;

/** The names of a model's speakers, in their order: those that its graph tells, else their numbers. */
export function sherpaSpeakers({ metadata }: SherpaFolder): readonly string[] {
  const names = (metadata.get('speaker_names') ?? '').split(',').map((name) => name.trim());
  if (names.length > 1 || names[0] !== '') return names.slice(0, SPEAKER_LIMIT);
  const count = Math.max(1, Math.min(SPEAKER_LIMIT, Number(metadata.get('n_speakers') ?? 1) || 1));
  return Array.from({ length: count }, (_, number) => String(number));
}

/** The data of espeak-ng, and where systems put it. */
const DATA = 'espeak-ng-data';
const ESPEAK_DATA = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/share', '/usr/local/share', '/opt/homebrew/share'];

/** The data of espeak-ng for a model that needs it: its own, else the system's; undefined where it needs none. Throws `invalid` where there is none. */
export function espeakData(folder: string, { kind, metadata }: SherpaFolder): string | undefined {
  if (kind === 'vits' && metadata.get('has_espeak') !== '1' && !/piper/i.test(metadata.get('comment') ?? '')) return undefined;
  const found = [folder, ...ESPEAK_DATA].map((place) => join(place, DATA)).find((path) => existsSync(join(path, 'phontab')));
  if (found !== undefined) return found;
  const remedy = 'put it beside its graph, or install espeak-ng (Debian: apt install espeak-ng)';
  throw new Failure('invalid', `The model needs the folder ${DATA}: ${remedy}.`, { code: 'InvalidModelFile' });
}
