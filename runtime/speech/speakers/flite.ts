import { Failure } from '../../../schemas/errors.js';
import type { Voice } from '../contract.js';
import type { FoundVoice, Speaker } from './contract.js';

/** What the program takes in memory with its voices. */
const SIZE_BYTES = 96 * 1024 * 1024;

const NAMES: Readonly<Record<string, { readonly name: string; readonly language: string }>> = {
  slt: { name: 'Slt (American Female)', language: 'en-US' },
  rms: { name: 'Rms (American Male)', language: 'en-US' },
  awb: { name: 'Awb (Scottish Male)', language: 'en-GB' },
  kal16: { name: 'Kal (American Male)', language: 'en-US' },
};

/** Flite with one of its own voices. */
export function fliteVoice(voice: string, notes: readonly string[] = []): FoundVoice {
  return {
    engine: 'flite',
    voice,
    key: 'tts:flite:slt',
    name: 'flite',
    files: { folder: null, graph: null },
    sizeBytes: SIZE_BYTES,
    notes,
  };
}

/** The voice that comes with every installation: small, quick and plain. */
export const flite: Speaker = {
  model: 'flite',
  answers: () => false,
  voices: async () => Object.entries(NAMES).map(([id, facts]): Voice => ({ id, ...facts, model: 'flite' })),
  find: async (_model, voice) => {
    if (Object.hasOwn(NAMES, voice)) return fliteVoice(voice);
    throw new Failure('not_found', `Model "flite" has no voice "${voice}"; it has ${Object.keys(NAMES).join(', ')}.`, {
      code: 'VoiceNotFound',
    });
  },
};
