import { deflateRawSync } from 'node:zlib';

/** Text that shrinks to less than this part says the same again and again, which models do that hear too little. */
const RATIO = 2.4;
/** Shorter texts repeat by chance: "no, no". */
const LEAST_WORDS = 3;

/** Whether the second half of a text is its first half again. */
function isTwice(words: readonly string[]): boolean {
  const half = words.length / 2;
  return Number.isInteger(half) && half >= LEAST_WORDS && words.slice(0, half).every((word, at) => word === words[half + at]);
}

/** Whether a transcript repeats itself as a model's does that lost the audio. */
export function repeats(text: string): boolean {
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && bytes.length / deflateRawSync(bytes).length > RATIO) return true;
  return isTwice(text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []);
}
