import { VOICE_FRAME, type VoiceActivity } from '../vad/contract.js';

/** A frame of 32 ms counts as speech from this probability on: less than where somebody is waited for, as music may have words. */
const LIKELY = 0.35;
/** Frames that must be speech. */
const LEAST_FRAMES = 3;
/** Frames that are judged at a time: 4 s; mostly the first tell. */
const AT_ONCE = 125;

/** Whether somebody speaks in a stretch, by the detector of speech: a model would make words of noise. */
export async function holdsSpeech(samples: Float32Array, activity: VoiceActivity): Promise<boolean> {
  activity.reset();
  const frames = Math.floor(samples.length / VOICE_FRAME);
  let found = 0;
  for (let at = 0; at < frames; at += AT_ONCE) {
    const heard = await activity.hear(samples.slice(at * VOICE_FRAME, Math.min(frames, at + AT_ONCE) * VOICE_FRAME));
    found += heard.reduce((count, likely) => count + Number(likely >= LIKELY), 0);
    if (found >= LEAST_FRAMES) return true;
  }
  return false;
}
