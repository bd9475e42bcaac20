import { deflateRawSync } from 'node:zlib';

/** Text that shrinks to less than this part says the same again and again, which models do that hear too little. */
const RATIO = 2.4;
/** Fewer words are repeated by people: "no, no, no". */
const LEAST_WORDS = 3;

/** Whether some of the words stand right behind themselves again. */
function isSaidTwice(words: readonly string[]): boolean {
  for (let count = LEAST_WORDS; count <= words.length / 2; count += 1) {
    let same = 0;
    for (let at = count; at < words.length && same < count; at += 1) same = words[at] === words[at - count] ? same + 1 : 0;
    if (same >= count) return true;
  }
  return false;
}

/** Whether a transcript repeats itself as a model's does that lost the audio. */
export function repeats(text: string): boolean {
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && bytes.length / deflateRawSync(bytes).length > RATIO) return true;
  return isSaidTwice(text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []);
}
