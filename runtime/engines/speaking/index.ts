import type { VoiceEngine, VoiceFiles } from '../contracts/speaking.js';

/** The engines that speak. */
export type VoiceEngineName = 'kokoro' | 'piper' | 'sherpa' | 'flite' | 'espeak-ng';

/** How each is made in its child process; its code is loaded there alone. */
export const VOICE_ENGINES: Readonly<Record<VoiceEngineName, (files: VoiceFiles) => Promise<VoiceEngine>>> = {
  kokoro: async (files) => (await import('./kokoro/engine.js')).openKokoro(files),
  piper: async (files) => (await import('./piper/engine.js')).openPiper(files),
  sherpa: async (files) => (await import('./sherpa/engine.js')).openSherpa(files),
  'espeak-ng': async () => (await import('./espeak/engine.js')).openEspeak(),
  flite: async () => (await import('./flite/engine.js')).openFlite(),
};
