import { Failure } from '../../../schemas/errors.js';
import type { OpenEngine } from '../../hosts/protocol.js';
import type { Saying, Sound, VoiceEngine, VoiceFiles, VoiceOpened } from '../contracts/speaking.js';
import { VOICE_ENGINES, type VoiceEngineName } from './index.js';
import { changeSpeed, withPause } from './samples.js';

/** A phrase at a speed that the engine may lack: it is spoken at the nearest that it has, and stretched. */
async function sayAtSpeed(engine: VoiceEngine, saying: Saying): Promise<Sound> {
  const [least, most] = engine.speeds;
  const speed = Math.min(most, Math.max(least, saying.speed));
  const sound = withPause(await engine.say({ ...saying, speed }), saying.pause / speed);
  return speed === saying.speed ? sound : changeSpeed(sound, saying.speed / speed);
}

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
      if (method === 'say') return sayAtSpeed(engine, body as Saying);
      throw new Failure('internal', `A voice host has no method ${method}.`);
    },
    close: () => engine?.close(),
  };
};
