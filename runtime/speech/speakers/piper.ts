import { isAbsolute, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import { howToFetch, modelMissing } from '../../formats/model-files.js';
import { graphBytes } from '../../formats/onnx/graph-bytes.js';
import { type PiperSettings, piperSettingsFile, readPiperSettings } from '../../formats/piper-settings.js';
import type { ModelPlaces } from '../../models/find/contract.js';
import { findPipers, isPiperName, type PiperVoice, pipersHere, USUAL_PIPER } from '../../models/find/piper.js';
import type { Voice } from '../contract.js';
import type { Speaker } from './contract.js';
import { espeakIsHere } from './espeak.js';

const MODEL = 'piper';
const isEnglish = (language: string): boolean => /^en\b/i.test(language);

/** A voice with what its settings say; one of several speakers is several voices. */
interface Described extends Voice {
  readonly voice: PiperVoice;
  readonly settings: PiperSettings;
}

const voicesOf = (model: string, places: ModelPlaces): Promise<PiperVoice[]> =>
  model === MODEL ? pipersHere(places) : findPipers(model, places);

/** Voices with what their settings say, English ones first. Of several those whose settings cannot be read are left out. */
async function describeVoices(voices: readonly PiperVoice[]): Promise<Described[]> {
  const all: Described[] = [];
  for (const voice of voices) {
    // Each reads a file, and there may be hundreds.
    await breathe();
    try {
      all.push(...describe(voice, readPiperSettings(voice.folder, voice.graph)));
    } catch (error) {
      if (!(error instanceof Failure && voices.length > 1)) throw error;
    }
  }
  return all.sort((one, other) => Number(isEnglish(other.language)) - Number(isEnglish(one.language)));
}

function describe(voice: PiperVoice, settings: PiperSettings): Described[] {
  const { language, quality, speakers } = settings;
  const who = voice.name.split('-')[1] ?? voice.name;
  const named = `${who.charAt(0).toUpperCase()}${who.slice(1)} (${[language, quality].filter(Boolean).join(', ')})`;
  const of = (id: string, name: string): Described => ({ id, name, language, model: MODEL, voice, settings });
  if (speakers.size === 0) return [of(voice.name, named)];
  return [...speakers.keys()].map((speaker) => of(`${voice.name}:${speaker}`, `${named}, speaker ${speaker}`));
}

function missing(model: string): Failure {
  const name = isPiperName(model) ? model : USUAL_PIPER;
  const why = model === MODEL ? 'no voice of it is on this machine' : 'it is not on this machine';
  return modelMissing(model, { why, remedies: [isAbsolute(model) ? 'check the path' : howToFetch(name)] });
}

/** Voices of Piper, each a model of its own: by the name `piper` with a voice, by a voice's name, or by a repository, folder or file. */
export const piper: Speaker = {
  model: MODEL,
  answers: (model, files) =>
    isPiperName(model) || files.some((file) => files.includes(piperSettingsFile(file))) || (isAbsolute(model) && /\.onnx$/.test(model)),
  voices: async (model, places) =>
    (await describeVoices(await voicesOf(model, places))).map(({ id, name, language }) => ({ id, name, language, model: MODEL })),
  find: async (model, voice, places) => {
    const all = await voicesOf(model, places);
    if (all.length === 0) throw missing(model);
    const found = (await describeVoices(all.filter(({ name }) => voice === name || voice.startsWith(`${name}:`)))).find(
      ({ id }) => id === voice,
    );
    if (!found) {
      const remedies = isPiperName(voice) ? [howToFetch(voice)] : [`GET /v1/audio/voices?model=${MODEL} lists its voices`];
      throw modelMissing(model, { why: `it has no voice "${voice}"`, remedies, code: 'VoiceNotFound' });
    }
    const { settings, voice: of } = found;
    if (settings.espeak !== null && !isEnglish(settings.espeak) && !(await espeakIsHere()))
      throw new Failure(
        'not_found',
        `Voice "${voice}" speaks ${settings.language}, for which the program espeak-ng must be on the PATH: install it (Debian: apt install espeak-ng) and start the daemon again.`,
        { code: 'EngineMissing' },
      );
    return {
      engine: 'piper',
      voice,
      key: `tts:${MODEL}:${of.name}`,
      name: of.name,
      files: { folder: of.folder, graph: of.graph },
      sizeBytes: await graphBytes([join(of.folder, ...of.graph.split('/'))]),
      notes: [],
    };
  },
};
