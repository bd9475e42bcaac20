import type { Example } from '../../../runtime/ml/classifiers/contract.js';
import { plainRegression } from './plain-regression.js';

const WORD = /[\p{L}\p{N}_]{2,}/gu;

/**
 * What a data scientist tries first: scikit-learn's `TfidfVectorizer()` (words of two letters at least, their counts times 1 + ln((1 + texts) / (1 + texts
 * with it)), rows of length 1) with `LogisticRegression()`. Gives how many of the held-out texts get their label.
 */
export function tfidfRegressionRight(train: readonly Example[], heldOut: readonly Example[]): number {
  const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? [];
  const having = new Map<string, number>();
  for (const { text } of train) for (const word of new Set(wordsOf(text))) having.set(word, (having.get(word) ?? 0) + 1);
  const places = new Map([...having.keys()].map((word, at) => [word, at]));
  const vectorOf = ({ text }: Example): Float32Array => {
    const row = new Float32Array(places.size);
    for (const word of wordsOf(text))
      if (places.has(word)) row[places.get(word)!]! += 1 + Math.log((1 + train.length) / (1 + having.get(word)!));
    const length = Math.hypot(...row) || 1;
    return row.map((value) => value / length);
  };
  const labels = [...new Set(train.map(({ label }) => label))].sort();
  const targets = train.map(({ label }) => labels.indexOf(label));
  const { label } = plainRegression({ vectors: train.map(vectorOf), targets, classes: labels.length });
  return heldOut.filter((one) => labels[label(vectorOf(one))] === one.label).length;
}
