import { isAbsolute } from 'node:path';
import { howToFetch, modelMissing } from '../../formats/model-missing.js';
import type { ModelPlaces } from '../../models/find/contract.js';
import { findRepositoryHere } from '../../models/find/repository.js';
import type { Voice } from '../contract.js';
import type { FoundVoice, Speaker } from './contract.js';
import { espeak } from './espeak.js';
import { flite } from './flite.js';
import { kokoro } from './kokoro.js';
import { isOpenaiVoice, OPENAI_MODELS, openaiVoices, ownVoice } from './openai.js';
import { piper } from './piper.js';
import { sherpa } from './sherpa.js';

/** Everything that speaks, the default first. */
export const SPEAKERS: readonly Speaker[] = [kokoro, piper, sherpa, flite, espeak];

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

/** Who speaks when a model is asked for, in the voice that is named or its default. Throws `not_found` for either, with the remedy. */
export async function findVoice(named: string, voice: string | undefined, places: ModelPlaces): Promise<FoundVoice> {
  const { speaker, model } = await speakerOf(named, places);
  if (voice !== undefined && !isOpenaiVoice(voice)) return speaker.find(model, voice, places);
  const known = await speaker.voices(model, places);
  return speaker.find(model, voice === undefined ? (known[0]?.id ?? '') : ownVoice(voice, known), places);
}
