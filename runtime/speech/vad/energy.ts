import { loadCore } from '../../../native/core.js';
import { VOICE_FRAME, type VoiceActivity } from './contract.js';

/** Effective value of the quietest speech. */
const THRESHOLD = 0.015;

/** Tells speech by its loudness above the noise of the room. */
export function energyActivity(): VoiceActivity {
  const native = loadCore().openVoiceActivity(VOICE_FRAME, THRESHOLD);
  return {
    detector: 'energy',
    hear: async (samples) => native.push(samples),
    reset: () => native.reset(),
    close: () => {},
  };
}
