import type { Voice } from '../contract.js';

/** Models of OpenAI's that clients ask for by name: whatever of ours speaks best here answers. */
export const OPENAI_MODELS: readonly string[] = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];

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

/** Whether a voice is one of OpenAI's. */
export const isOpenaiVoice = (voice: string): boolean => Object.hasOwn(OPENAI_VOICES, voice);

/** The voice of a model that speaks for one of OpenAI's: the nearest, else the model's default. Other names, and those that the model has itself, stay as they are. */
export function ownVoice(voice: string, known: readonly Voice[]): string {
  if (!isOpenaiVoice(voice) || known.some(({ id }) => id === voice)) return voice;
  const nearest = OPENAI_VOICES[voice]!.find((name) => known.some(({ id }) => id === name));
  return nearest ?? known[0]?.id ?? voice;
}

/** OpenAI's voices as listings show them, by what ours that speak for them are. */
export function openaiVoices(model: string, known: readonly Voice[]): Voice[] {
  return Object.keys(OPENAI_VOICES).map((id) => {
    const own = known.find((voice) => voice.id === ownVoice(id, known));
    const what = /\((.+)\)$/.exec(own?.name ?? '')?.[1];
    const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
    return { id, name: what === undefined ? name : `${name} (${what})`, language: own?.language ?? 'en-US', model };
  });
}
