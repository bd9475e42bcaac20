import { stopWordsOf } from '../text/stop-words.js';
import { wordsOf } from '../text/words.js';
import type { Unit } from './contract.js';

type Weights = Map<string, number>;

/** Word stems are cut to this length, so that forms of a word meet without a dictionary. */
const STEM_UNITS = 6;

const ignored = stopWordsOf('en');

function countWords(text: string): Weights {
  const counted: Weights = new Map();
  for (const word of wordsOf(text)) {
    const stem = word.text.toLowerCase().slice(0, STEM_UNITS);
    if (!ignored.has(word.text.toLowerCase())) counted.set(stem, (counted.get(stem) ?? 0) + 1);
  }
  return counted;
}

function add(into: Weights, more: Weights): void {
  for (const [word, count] of more) into.set(word, (into.get(word) ?? 0) + count);
}

function distance(left: Weights, right: Weights): number {
  let product = 0;
  let leftLength = 0;
  let rightLength = 0;
  for (const [word, count] of left) {
    leftLength += count * count;
    product += count * (right.get(word) ?? 0);
  }
  for (const count of right.values()) rightLength += count * count;
  return leftLength === 0 || rightLength === 0 ? 0.5 : 1 - product / Math.sqrt(leftLength * rightLength);
}

/**
 * Marks the sentences at which the subject changes. Without a model: the words of the `bufferSize` sentences before and after each gap are
 * compared (cosine), and gaps whose distance lies above the percentile of all distances are cut.
 */
export function markBreaks(text: string, sentences: readonly Unit[], bufferSize: number, percentile: number): Unit[] {
  if (sentences.length < 3) return [...sentences];
  const counted = sentences.map((one) => countWords(text.slice(one.start, one.end)));
  const distances = counted.slice(1).map((_, gap) => {
    const before: Weights = new Map();
    const after: Weights = new Map();
    for (let step = 0; step < bufferSize; step += 1) {
      if (counted[gap - step]) add(before, counted[gap - step]!);
      if (counted[gap + 1 + step]) add(after, counted[gap + 1 + step]!);
    }
    return distance(before, after);
  });
  const sorted = [...distances].sort((a, b) => a - b);
  const place = ((sorted.length - 1) * percentile) / 100;
  const low = sorted[Math.floor(place)]!;
  const threshold = low + (sorted[Math.ceil(place)]! - low) * (place % 1);
  return sentences.map((one, index) => (index > 0 && distances[index - 1]! > threshold ? { ...one, apart: true } : one));
}
