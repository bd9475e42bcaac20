import { hashOf } from './dataset-stage.js';

const SYLLABLES = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'je', 'ki', 'lo', 'mu', 'na', 'pe', 'ri', 'so', 'tu', 'va', 'we', 'xi', 'yo', 'zu'];

/** A file for tests: what it is called, what it says, and its hash. */
export interface CorpusFile {
  readonly name: string;
  readonly content: string;
  readonly hash: string;
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A made-up word; low numbers come more often, as words do. */
export function wordOf(random: () => number, vocabulary = 4000): string {
  let rank = Math.floor(vocabulary ** random());
  let word = '';
  do {
    word += SYLLABLES[rank % SYLLABLES.length];
    rank = Math.floor(rank / SYLLABLES.length);
  } while (rank > 0);
  return word.length < 4 ? `${word}la` : word;
}

/** Words in sentences, about `characters` long. */
export function proseOf(random: () => number, characters: number): string {
  let text = '';
  while (text.length < characters) {
    const words = Array.from({ length: 6 + Math.floor(random() * 10) }, () => wordOf(random));
    text += `${words.join(' ')}. `;
  }
  return text;
}

/** A text of one to `paragraphs` paragraphs, all of whose sentences say `common`; the same for the same number. */
export function fileOf(number: number, paragraphs = 6): CorpusFile {
  const random = randomOf(number + 1);
  const count = 1 + Math.floor(random() * paragraphs);
  const content = Array.from(
    { length: count },
    (_, at) => `file${number} part${at} ${proseOf(random, 300).replaceAll('. ', ' common. ')}`,
  ).join('\n\n');
  return { name: `file-${number}.txt`, content, hash: hashOf(content) };
}
