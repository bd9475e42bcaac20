import { isAbsolute } from 'node:path';
import { type Phrase, type Sound, SPEECH_RATE, type VoiceModel } from '../engines/contracts/speaking.js';
import { VoiceClient } from '../engines/speaking/client.js';
import { howToFetch, modelMissing } from '../formats/model-files.js';
import type { ModelPlaces } from '../models/find/contract.js';
import { findRepositoryHere } from '../models/find/repository.js';
import type { Held, Models } from '../models/residency/models.js';
import type { SpeakRequest, SpeechOutService, Spoken, SpokenChunk, Voice } from './contract.js';
import type { FoundVoice, Speaker } from './speakers/contract.js';
import { espeak } from './speakers/espeak.js';
import { flite } from './speakers/flite.js';
import { kokoro } from './speakers/kokoro.js';
import { piper } from './speakers/piper.js';
import { sherpa } from './speakers/sherpa.js';

/** Everything that speaks, the default first. */
export const SPEAKERS: readonly Speaker[] = [kokoro, piper, sherpa, flite, espeak];

/** Speaks with the engines of this machine. */
export class LocalSpeech implements SpeechOutService {
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  voices(model?: string): Promise<readonly Voice[]> {
    return voicesOf(model, this.#models.places);
  }

  /** The engine is loaded when the first chunk is asked for. */
  async speak({ text, model, voice, speed }: SpeakRequest, signal: AbortSignal): Promise<Spoken> {
    const found = await findVoice(model, voice, this.#models.places);
    return { engine: found.engine, voice: found.voice, chunks: chunksOf(this.#models, found, { text, speed }, signal) };
  }

  async keepVoice(model: string, voice: string | undefined, signal: AbortSignal): Promise<() => void> {
    const held = await holdVoice(this.#models, await findVoice(model, voice, this.#models.places), signal);
    return held.release;
  }

  async speaker(): Promise<string> {
    const { engine, voice, notes } = await findVoice(SPEAKERS[0]!.model, undefined, this.#models.places);
    return [`${engine} speaks as ${voice}`, ...notes].join('; ');
  }
}

/** Models of OpenAI's that clients ask for by name: whatever of ours speaks best here answers. */
export const OPENAI_MODELS: readonly string[] = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];

/** The voices of a model, or of all that are here with OpenAI's at the end. Throws `not_found` for an unknown model. */
export async function voicesOf(named: string | undefined, places: ModelPlaces): Promise<readonly Voice[]> {
  if (named === undefined) {
    const [usual, ...others] = await Promise.all(SPEAKERS.map((speaker) => speaker.voices(speaker.model, places)));
    return [usual!, ...others, openaiVoices(OPENAI_MODELS[0]!, usual!)].flat();
  }
  const { speaker, model } = await speakerOf(named, places);
  const voices = await speaker.voices(model, places);
  return OPENAI_MODELS.includes(named) ? openaiVoices(named, voices) : voices;
}

/** OpenAI's voices, each with those of ours that are nearest to it: the first that is here speaks. Those of `quern pull kokoro` stand before the eleven that are always offered. */
const OPENAI_VOICES: Readonly<Record<string, readonly string[]>> = {
  alloy: ['af_alloy', 'af_sarah'],
  ash: ['am_liam', 'am_michael'],
  ballad: ['bm_daniel', 'bm_lewis'],
  coral: ['af_bella'],
  echo: ['am_echo', 'am_adam'],
  fable: ['bm_fable', 'bm_george'],
  onyx: ['am_onyx', 'am_adam'],
  nova: ['af_nova', 'af_heart'],
  sage: ['bf_emma'],
  shimmer: ['af_sky'],
  verse: ['am_puck', 'am_michael'],
  marin: ['bf_isabella'],
  cedar: ['am_eric', 'bm_george'],
};

/** OpenAI's voices as listings show them, by what ours that speak for them are. */
export function openaiVoices(model: string, known: readonly Voice[]): Voice[] {
  return Object.keys(OPENAI_VOICES).map((id) => {
    const own = known.find((voice) => voice.id === ownVoice(id, known));
    const what = /\((.+)\)$/.exec(own?.name ?? '')?.[1];
    const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
    return { id, name: what === undefined ? name : `${name} (${what})`, language: own?.language ?? 'en-US', model };
  });
}

/** The voice of a model that speaks for one of OpenAI's: the nearest, else the model's default. Other names, and those that the model has itself, stay as they are. */
export function ownVoice(voice: string, known: readonly Voice[]): string {
  if (!isOpenaiVoice(voice) || known.some(({ id }) => id === voice)) return voice;
  const nearest = OPENAI_VOICES[voice]!.find((name) => known.some(({ id }) => id === name));
  return nearest ?? known[0]?.id ?? voice;
}

/** Whether a voice is one of OpenAI's. */
export const isOpenaiVoice = (voice: string): boolean => Object.hasOwn(OPENAI_VOICES, voice);

/** A model that speaks, and who answers to it. */
interface Answering {
  readonly speaker: Speaker;
  /** The model as the speaker knows it. */
  readonly model: string;
}

/** Who answers to a model's name, or to one of OpenAI's. Throws `not_found` that names those who are there and the pull. */
async function speakerOf(named: string, places: ModelPlaces): Promise<Answering> {
  const model = OPENAI_MODELS.includes(named) ? SPEAKERS[0]!.model : named;
  const byName = SPEAKERS.find((one) => one.model === model);
  if (byName) return { speaker: byName, model };
  const files = (await findRepositoryHere(model, places))?.files ?? [];
  const speaker = SPEAKERS.find((one) => one.answers(model, files));
  if (speaker) return { speaker, model };
  throw modelMissing(model, {
    why: `no model of that name speaks here; there are ${SPEAKERS.map((one) => one.model).join(', ')}`,
    remedies: isAbsolute(model) ? ['check the path'] : ['name one of them', `${howToFetch('kokoro')} for the best voices`],
  });
}

/** Who speaks when a model is asked for, in the voice that is named or its default. Throws `not_found` for either, with the remedy. */
export async function findVoice(named: string, voice: string | undefined, places: ModelPlaces): Promise<FoundVoice> {
  const { speaker, model } = await speakerOf(named, places);
  if (voice !== undefined && !isOpenaiVoice(voice)) return speaker.find(model, voice, places);
  const known = await speaker.voices(model, places);
  return speaker.find(model, voice === undefined ? (known[0]?.id ?? '') : ownVoice(voice, known), places);
}

async function* chunksOf(
  models: Models,
  found: FoundVoice,
  { text, speed }: Pick<SpeakRequest, 'text' | 'speed'>,
  signal: AbortSignal,
): AsyncGenerator<SpokenChunk, void, undefined> {
  const held = await holdVoice(models, found, signal);
  // Ends what is spoken ahead where nobody takes it any more.
  const leaving = new AbortController();
  const wanted = AbortSignal.any([signal, leaving.signal]);
  try {
    const phrases = await held.engine.plan(text, found.voice, wanted);
    const say = (phrase: Phrase | undefined): Promise<Sound> | undefined => {
      const sound = phrase && held.engine.say({ ...phrase, voice: found.voice, speed }, wanted);
      sound?.catch(() => {});
      return sound;
    };
    let offset = 0;
    let next = say(phrases[0]);
    for (let index = 1; next !== undefined; index += 1) {
      const { samples, words } = await next;
      // The next phrase is spoken while this one is taken, and no more than that.
      next = say(phrases[index]);
      yield { samples, ...(words && { words: words.map(({ word, start, end }) => ({ word, start: start + offset, end: end + offset })) }) };
      offset += samples.length / SPEECH_RATE;
    }
  } finally {
    leaving.abort();
    held.release();
  }
}

/** Loads who speaks, where it is not loaded. */
function holdVoice(models: Models, found: FoundVoice, signal: AbortSignal): Promise<Held<VoiceModel>> {
  const { engine, key, name, files, sizeBytes, notes } = found;
  return models.hold(
    {
      key,
      ...(files.folder === null ? {} : { source: `${files.folder}/${files.graph}` }),
      type: 'tts',
      name,
      sizeBytes,
      load: (circuit, stop) => VoiceClient.load({ engine, name, files, notes, circuit }, stop),
    },
    signal,
  );
}
