import { completenessOf } from './completeness.js';
import type { Said } from './contract.js';
import type { VoiceSettings } from './settings.js';

/** Speech shorter than this is given more time, in seconds and by so much. */
const SHORT_S = 2;
const SHORT_FACTOR = 1.5;
/** Less speech than this has no words that tell whether it is complete, in seconds. */
const TELLING_S = 0.5;
const AMBIGUOUS_FACTOR = 1.25;

/** A pause in speech. */
interface Pause {
  readonly speechS: number;
  /** What was said; absent while it is not known. */
  readonly said: Said | undefined;
}

/** Seconds of silence: `least` after which the words are asked for, `most` after which the utterance is over. */
export function requiredSilence({ speechS, said }: Pause, settings: VoiceSettings): { least: number; most: number } {
  const { baseSilence, maxSilence, thinkingSilence } = settings;
  const least = Math.min(maxSilence, baseSilence * (speechS < SHORT_S ? SHORT_FACTOR : 1));
  if (said === undefined) return { least, most: maxSilence };
  const completeness = speechS < TELLING_S ? 'complete' : completenessOf(said.text, said.language);
  const wanted = { complete: least, ambiguous: least * AMBIGUOUS_FACTOR, incomplete: thinkingSilence }[completeness];
  return { least, most: Math.min(maxSilence, wanted) };
}
