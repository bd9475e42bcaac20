import { once, rememberLatest } from '../../base/once.js';

/** One step of FNV-1a over a code unit. */
export function hashStep(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

/** The last mixing of MurmurHash3, after which every bit depends on every unit. */
export function finishHash(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** A stretch of a text; offsets are UTF-16 code units. */
export interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

// Every match is consumed and the optional tail starts with one fixed character, so a scan is linear.
const WORD = /[\p{L}\p{N}\p{M}]+(?:['’\-_][\p{L}\p{N}\p{M}]+)*/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Longest stretch given to the dictionary segmenter at once. */
const SEGMENTED_UNITS = 4096;

/** Made at first use: it takes ten milliseconds. */
const segmenter = once(() => new Intl.Segmenter('und', { granularity: 'word' }));

/** Splits a run of a script that writes no spaces, by ICU's dictionaries. */
function* segmentUnspaced(run: Span): Generator<Span> {
  for (let from = 0; from < run.text.length; from += SEGMENTED_UNITS) {
    for (const part of segmenter().segment(run.text.slice(from, from + SEGMENTED_UNITS))) {
      if (part.isWordLike) {
        const start = run.start + from + part.index;
        yield { text: part.segment, start, end: start + part.segment.length };
      }
    }
  }
}

/** The words of a text in order: letters, digits and marks, joined by single apostrophes, hyphens or underscores. Linear. */
export const wordsOf = rememberLatest((text: string): readonly Span[] => {
  const found: Span[] = [];
  const anyUnspaced = UNSPACED.test(text);
  for (const match of text.matchAll(WORD)) {
    const word: Span = { text: match[0], start: match.index, end: match.index + match[0].length };
    if (anyUnspaced && UNSPACED.test(word.text)) for (const part of segmentUnspaced(word)) found.push(part);
    else found.push(word);
  }
  return found;
});
