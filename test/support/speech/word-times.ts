import { LISTEN_RATE } from '../../../runtime/speech/decode/contract.js';
import { silence } from './sounds.js';

/** Words that are spoken without a pause. */
const PIECE_WORDS = 4;
/** Pauses between them in turn, in seconds. */
const PAUSES_S = [0.3, 0.7, 0.45, 1.1];
const FIRST_PAUSE_S = 0.4;
/** Samples that are louder belong to a word. */
const LOUD = 0.01;

const isLoud = (sample: number): boolean => Math.abs(sample) > LOUD;

/** Speech without what is quiet before its first word and behind its last. */
export const trimmed = (spoken: Float32Array): Float32Array => spoken.slice(spoken.findIndex(isLoud), spoken.findLastIndex(isLoud) + 1);

/** A word and when it sounds, in seconds. */
export interface TimedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Speech whose pauses are known to the sample. */
export interface PausedSpeech {
  /** 16 kHz mono. */
  readonly samples: Float32Array;
  /** When each piece sounds, from its first word to its last. */
  readonly pieces: readonly { readonly words: readonly string[]; readonly start: number; readonly end: number }[];
}

/** Speaks sentences in pieces of four words with pauses between them; `say` gives a text as 16 kHz mono. */
export async function pausedSpeech(say: (text: string) => Promise<Float32Array>, sentences: readonly string[]): Promise<PausedSpeech> {
  const parts = [silence(FIRST_PAUSE_S)];
  const pieces: PausedSpeech['pieces'][number][] = [];
  let length = parts[0]!.length;
  for (const sentence of sentences) {
    const words = sentence.split(' ');
    for (let at = 0; at < words.length; at += PIECE_WORDS) {
      const said = words.slice(at, at + PIECE_WORDS);
      const sound = trimmed(await say(said.join(' ')));
      pieces.push({ words: said, start: length / LISTEN_RATE, end: (length + sound.length) / LISTEN_RATE });
      const pause = silence(PAUSES_S[pieces.length % PAUSES_S.length]!);
      parts.push(sound, pause);
      length += sound.length + pause.length;
    }
  }
  const samples = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return { samples, pieces };
}

const plain = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/**
 * How far, in seconds, the words at both edges of each piece were heard from where they sound: first words by their start, last ones by their end. Edges that were
 * heard as other words do not count.
 */
export function edgeErrors({ pieces }: Pick<PausedSpeech, 'pieces'>, heard: readonly TimedWord[]): number[] {
  const said = pieces.flatMap(({ words, start, end }) =>
    words.map((word, at) => ({ word: plain(word), start: at === 0 ? start : undefined, end: at === words.length - 1 ? end : undefined })),
  );
  const errors: number[] = [];
  for (const [from, to] of matches(
    said.map(({ word }) => word),
    heard.map(({ word }) => plain(word)),
  )) {
    const { start, end } = said[from]!;
    if (start !== undefined) errors.push(Math.abs(heard[to]!.start - start));
    if (end !== undefined) errors.push(Math.abs(heard[to]!.end - end));
  }
  return errors;
}

/** The longest common words of two texts, as pairs of places. */
function matches(one: readonly string[], other: readonly string[]): [number, number][] {
  const lengths = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let a = one.length - 1; a >= 0; a -= 1)
    for (let b = other.length - 1; b >= 0; b -= 1)
      lengths[a]![b] = one[a] === other[b] ? lengths[a + 1]![b + 1]! + 1 : Math.max(lengths[a + 1]![b]!, lengths[a]![b + 1]!);
  const pairs: [number, number][] = [];
  for (let [a, b] = [0, 0]; a < one.length && b < other.length; ) {
    if (one[a] === other[b]) pairs.push([a++, b++]);
    else if (lengths[a + 1]![b]! >= lengths[a]![b + 1]!) a += 1;
    else b += 1;
  }
  return pairs;
}
