import { Failure } from '../../../schemas/errors.js';
import type { OpenEngine } from '../../hosts/engine.js';
import type { Saying, VoiceEngine, VoiceFiles, VoiceOpened } from '../contracts/speaking.js';
import { VOICE_ENGINES, type VoiceEngineName } from './index.js';
import { withPause } from './trim.js';

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => {
  let engine: VoiceEngine | undefined;
  return {
    async call(method, body, signal) {
      if (method === 'open') {
        const { name, files } = body as { name: VoiceEngineName; files: VoiceFiles };
        engine = await VOICE_ENGINES[name](files);
        return { devices: engine.devices } satisfies VoiceOpened;
      }
      if (!engine) throw new Failure('unavailable', 'The voice is not loaded yet.');
      // Lets a cancel be seen that came while the phrase before was spoken.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      if (method === 'plan') {
        const { text, voice } = body as { text: string; voice: string };
        return engine.plan(text, voice);
      }
      if (method === 'say') {
        const saying = body as Saying;
        return withPause(await engine.say(saying), saying.pause / saying.speed);
      }
      throw new Failure('internal', `A voice host has no method ${method}.`);
    },
    close: () => engine?.close(),
  };
};
