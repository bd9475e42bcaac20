import type { VoiceEngine, VoiceFiles } from '../contracts/speaking.js';

/** The engines that speak. */
export type VoiceEngineName = 'kokoro' | 'piper' | 'sherpa' | 'flite' | 'espeak-ng';

/** How each is made in its child process; its code is loaded there alone. */
export const VOICE_ENGINES: Readonly<Record<VoiceEngineName, (files: VoiceFiles) => Promise<VoiceEngine>>> = {
  kokoro: async (files) => (await import('./engines/kokoro.js')).openKokoro(files),
  piper: async (files) => (await import('./engines/piper.js')).openPiper(files),
  sherpa: async (files) => (await import('./engines/sherpa.js')).openSherpa(files),
  'espeak-ng': async () => (await import('./engines/espeak.js')).openEspeak(),
  flite: async () => (await import('./engines/flite.js')).openFlite(),
};
