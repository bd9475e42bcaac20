import { SPEECH_RATE } from '../../../runtime/speech/contract.js';
import { SENTENCES } from './sentences.js';
import { type PausedSpeech, trimmed } from './word-times.js';

/** Pauses between sentences in turn, in seconds. */
const PAUSES_S = [0.5, 1.2, 0.8, 2.5];

/** Speech of any length, of which no more than a sentence is in memory. */
export interface Lecture {
  /** Each sentence and when it sounds. */
  readonly sentences: PausedSpeech['pieces'];
  /** Seconds. */
  readonly duration: number;
  /** Its sound at 24 kHz, mono, from the beginning. */
  sound(): AsyncGenerator<Float32Array, void, undefined>;
}

/**
 * The hundred sentences again and again, with pauses, for as many seconds as wanted. `say` gives a text as 24 kHz mono and is asked for each once. The
 * last sentence ends before `seconds`, which is when the lecture ends.
 */
export async function lecture(say: (text: string) => Promise<Float32Array>, seconds: number): Promise<Lecture> {
  const spoken: Float32Array[] = [];
  for (const sentence of SENTENCES) spoken.push(trimmed(await say(sentence)));
  const wanted = Math.round(seconds * SPEECH_RATE);
  const parts: { readonly at: number; readonly sound: Float32Array; readonly words: readonly string[] }[] = [];
  let at = SPEECH_RATE * PAUSES_S[0]!;
  for (let turn = 0; ; turn += 1) {
    const sound = spoken[turn % spoken.length]!;
    if (at + sound.length > wanted) break;
    parts.push({ at, sound, words: SENTENCES[turn % SENTENCES.length]!.split(' ') });
    at += sound.length + SPEECH_RATE * PAUSES_S[turn % PAUSES_S.length]!;
  }
  return {
    sentences: parts.map(({ at, sound, words }) => ({ words, start: at / SPEECH_RATE, end: (at + sound.length) / SPEECH_RATE })),
    duration: wanted / SPEECH_RATE,
    sound: async function* () {
      let until = 0;
      for (const { at, sound } of [...parts, { at: wanted, sound: new Float32Array(0) }]) {
        yield new Float32Array(at - until);
        yield sound;
        until = at + sound.length;
      }
    },
  };
}
