import type { Phrase, Sound, VoiceModel } from '../engines/contracts/speaking.js';
import { SPEECH_RATE } from '../engines/contracts/speaking.js';
import { VoiceClient } from '../engines/speaking/client.js';
import type { Held, Models } from '../models/residency/models.js';
import type { SpeakRequest, SpeechOutService, Spoken, SpokenChunk, Voice } from './contract.js';
import type { FoundVoice } from './speakers/contract.js';
import { findVoice, SPEAKERS, voicesOf } from './speakers/index.js';

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
