import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { graphMetadata } from './onnx/graph-file.js';

/** How models that speak are made, as sherpa-onnx names them. */
export type SherpaVoiceKind = 'vits' | 'matcha' | 'kokoro' | 'kitten';
/** How models that write down speech are made. */
export type SherpaEarKind = 'transducer' | 'whisper' | 'moonshine' | 'senseVoice' | 'paraformer' | 'nemoCtc' | 'zipformerCtc' | 'wenetCtc';

/** A folder with a model for sherpa-onnx, by its files; paths are relative. */
export interface SherpaFolder {
  readonly purpose: 'speaks' | 'hears';
  readonly kind: SherpaVoiceKind | SherpaEarKind;
  /** Whether it hears speech as it comes, a piece at a time; else it hears all at once. */
  readonly live: boolean;
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
type Kinds = readonly (readonly [RegExp, SherpaVoiceKind | SherpaEarKind])[];
/** What exports with one graph call themselves, with how they are opened. */
const ONE_GRAPH: Kinds = [
  [/^vits/i, 'vits'],
  [/^sense_?voice/i, 'senseVoice'],
  [/^paraformer/i, 'paraformer'],
  [/^EncDec.*(?:CTC|Hybrid)/i, 'nemoCtc'],
  [/^zipformer2?(?:_ctc)?$/i, 'zipformerCtc'],
  [/^wenet/i, 'wenetCtc'],
];
/** The same of exports with an encoder and a decoder. */
const TWO_GRAPHS: Kinds = [
  [/^whisper/i, 'whisper'],
  [/^paraformer/i, 'paraformer'],
];
/** The graphs of Moonshine, which say nothing about themselves, by their names. */
const MOONSHINE = {
  preprocessor: /^preprocess/i,
  encoder: /^encode/i,
  uncachedDecoder: /^uncached_decode/i,
  cachedDecoder: /^cached_decode/i,
};
/** Facts that only exports have which hear speech as it comes. */
const LIVE = ['decode_chunk_len', 'chunk_shift'];
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
  const moonshine = moonshineGraphs(files);
  if (moonshine) return Object.values(moonshine);
  const parts = [/encoder/i, /decoder/i, /joiner/i].flatMap((name) => pick(files, name, true) ?? []);
  if (parts.length > 1) return parts;
  const graphs = sounding(files);
  return graphs.length > 1 || files.some((file) => OF_VOICES.test(file)) ? graphs : [pick(files, /./, true)!];
}

function moonshineGraphs(files: readonly string[]): Record<keyof typeof MOONSHINE, string> | undefined {
  const graphs = Object.entries(MOONSHINE).map(([part, name]) => [part, pick(files, name, true)] as const);
  if (graphs.some(([, graph]) => graph === undefined)) return undefined;
  return Object.fromEntries(graphs) as Record<keyof typeof MOONSHINE, string>;
}

/** A graph that makes features of sounds, or sounds, and the one that makes sounds of those. */
const sounding = (files: readonly string[]): string[] =>
  [/^(?!.*(?:vocos|hifigan|vocoder))/i, /vocos|hifigan|vocoder/i].flatMap((name) => pick(files, name, false) ?? []);

/**
 * The model of a folder; undefined where it is none for sherpa-onnx. Throws `invalid` for a graph that says nothing usable about itself, or that calls itself
 * what is not run here.
 */
export function sherpaFolder(folder: string, files: readonly string[]): SherpaFolder | undefined {
  if (!looksLikeSherpa(files)) return undefined;
  const tokens = files.find((file) => TOKENS.test(file))!;
  const made = (kind: SherpaFolder['kind'], main: string, graphs: Record<string, string> = {}): SherpaFolder => {
    const metadata = metadataOf(folder, main);
    const live = LIVE.some((fact) => metadata.has(fact)) || (kind === 'paraformer' && 'decoder' in graphs);
    return {
      purpose: SPEAKS.has(kind) ? 'speaks' : 'hears',
      kind,
      live,
      main,
      graphs,
      tokens,
      weights: [main, ...Object.values(graphs)],
      metadata,
    };
  };
  const moonshine = moonshineGraphs(files);
  if (moonshine) {
    const { preprocessor, ...graphs } = moonshine;
    return made('moonshine', preprocessor, graphs);
  }
  const [encoder, decoder, joiner] = [/encoder/i, /decoder/i, /joiner/i].map((name) => pick(files, name, true));
  if (encoder && decoder && joiner) return made('transducer', encoder, { decoder, joiner });
  if (encoder && decoder) return made(kindOf(folder, encoder, TWO_GRAPHS), encoder, { decoder });
  const [acoustic, vocoder] = sounding(files);
  if (vocoder && acoustic) return made('matcha', acoustic, { vocoder });
  if (files.includes(VOICES)) {
    const main = pick(files, /./, false)!;
    return made(/kitten/i.test(metadataOf(folder, main).get('model_type') ?? '') ? 'kitten' : 'kokoro', main);
  }
  const main = pick(files, /./, true)!;
  const kind = kindOf(folder, main, ONE_GRAPH);
  // Graphs of sounds are slower in eight bits.
  return made(kind, kind === 'vits' ? pick(files, /./, false)! : main);
}

/** How a model is opened by what its graph calls itself. Throws `invalid` for other names. */
function kindOf(folder: string, graph: string, kinds: Kinds): SherpaFolder['kind'] {
  const type = metadataOf(folder, graph).get('model_type') ?? '';
  const kind = kinds.find(([name]) => name.test(type))?.[1];
  if (kind) return kind;
  const called = type === '' ? 'does not say what kind of model it is' : `calls itself ${JSON.stringify(type.slice(0, 60))}`;
  throw new Failure(
    'invalid',
    `${graph} ${called}; sherpa-onnx is asked for ${kinds.map(([, name]) => name).join(', ')} models of such files.`,
    {
      code: 'InvalidModelFile',
    },
  );
}

const metadataOf = (folder: string, graph: string): ReadonlyMap<string, string> => graphMetadata(join(folder, graph));

/** What exports call their languages, as BCP 47. */
const LANGUAGES: Readonly<Record<string, string>> = {
  english: 'en',
  german: 'de',
  french: 'fr',
  spanish: 'es',
  italian: 'it',
  portuguese: 'pt',
  dutch: 'nl',
  russian: 'ru',
  chinese: 'zh',
  japanese: 'ja',
  korean: 'ko',
};

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
export function espeakData(folder: string, { kind, metadata }: Pick<SherpaFolder, 'kind' | 'metadata'>): string | undefined {
  const isWanted = ['has_espeak', 'is_zh_en'].some((fact) => metadata.get(fact) === '1') || /piper/i.test(metadata.get('comment') ?? '');
  if (!isWanted && (kind === 'vits' || kind === 'matcha')) return undefined;
  const found = [folder, ...ESPEAK_DATA].map((place) => join(place, DATA)).find((path) => existsSync(join(path, 'phontab')));
  if (found !== undefined) return found;
  const remedy = 'put it beside its graph, or install espeak-ng (Debian: apt install espeak-ng)';
  throw new Failure('invalid', `The model needs the folder ${DATA}: ${remedy}.`, { code: 'InvalidModelFile' });
}
