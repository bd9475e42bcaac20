import type { DocumentAnswer, DocumentField } from '../contracts/documents.js';
import type { OcrBox } from '../contracts/ocr.js';

/** The word behind each token of a page; -1 for those that are none of the page's words. */
export interface TokenWords {
  readonly wordOf: readonly number[];
}

/** What is answered where the page does not say. */
const NO_ANSWER = '[No answer found]';

/** Probabilities of logits. */
export function softmax(logits: Float32Array): number[] {
  const highest = logits.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  const parts = Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = parts.reduce((total, one) => total + one, 0);
  return parts.map((part) => part / sum);
}

const highestAt = (values: readonly number[]): number => values.reduce((best, value, at) => (value > values[best]! ? at : best), 0);

/** The words between the likeliest start and end, which change places where they are reversed. */
export function answerOf(
  startLogits: Float32Array,
  endLogits: Float32Array,
  { wordOf }: TokenWords,
  words: readonly OcrBox[],
): DocumentAnswer {
  const [starts, ends] = [softmax(startLogits), softmax(endLogits)];
  const [start, end] = [highestAt(starts), highestAt(ends)];
  const [from, to] = [wordOf[Math.min(start, end)] ?? -1, wordOf[Math.max(start, end)] ?? -1];
  const text =
    from < 0 || to < 0
      ? ''
      : words
          .slice(from, to + 1)
          .map((word) => word.text)
          .join(' ');
  return text === '' ? { confidence: 0, answer: NO_ANSWER } : { confidence: (starts[start]! + ends[end]!) / 2, answer: text };
}

/** The likeliest class of the page, and the probability of each. */
export function classOf(logits: Float32Array, labels: readonly string[]): DocumentAnswer {
  const scores = softmax(logits);
  const best = highestAt(scores);
  const classificationScores = Object.fromEntries(labels.map((label, index) => [label, scores[index]!]));
  return { confidence: scores[best]!, classification: labels[best]!, classificationScores };
}

interface Labelled {
  readonly key: string;
  readonly begins: boolean;
  readonly word: OcrBox;
  readonly confidence: number;
}

/** The label of each word by its first token; `O` and words that were cut off are left out. */
function labelled(
  logits: Float32Array,
  labels: readonly string[],
  { wordOf }: TokenWords,
  words: readonly OcrBox[],
): (Labelled | undefined)[] {
  const seen = new Map<number, Labelled | undefined>();
  for (const [at, word] of wordOf.entries()) {
    if (word < 0 || seen.has(word)) continue;
    const scores = softmax(logits.slice(at * labels.length, (at + 1) * labels.length));
    const best = highestAt(scores);
    const [, prefix, key] = /^(?:([BIES])-)?(.*)$/.exec(labels[best]!)!;
    seen.set(
      word,
      key === 'O' || key === undefined ? undefined : { key, begins: prefix === 'B', word: words[word]!, confidence: scores[best]! },
    );
  }
  return [...seen.keys()].sort((a, b) => a - b).map((word) => seen.get(word));
}

/** Neighbouring words with the same label as one field; its confidence is their mean. */
export function fieldsOf(logits: Float32Array, labels: readonly string[], laid: TokenWords, words: readonly OcrBox[]): DocumentAnswer {
  const groups: Labelled[][] = [];
  let before: Labelled | undefined;
  for (const one of labelled(logits, labels, laid, words)) {
    if (one && before && one.key === before.key && !one.begins) groups.at(-1)!.push(one);
    else if (one) groups.push([one]);
    before = one;
  }
  const fields = groups.map((group): DocumentField => {
    const boxes = group.map(({ word }) => word);
    const edge = (of: (box: OcrBox) => number, most: typeof Math.max): number => most(...boxes.map(of));
    return {
      key: group[0]!.key,
      value: boxes.map(({ text }) => text).join(' '),
      confidence: group.reduce((sum, { confidence }) => sum + confidence, 0) / group.length,
      bbox: [edge((b) => b.x1, Math.min), edge((b) => b.y1, Math.min), edge((b) => b.x2, Math.max), edge((b) => b.y2, Math.max)],
    };
  });
  const confidence = fields.length === 0 ? 0 : fields.reduce((sum, field) => sum + field.confidence, 0) / fields.length;
  return { confidence, text: words.map(({ text }) => text).join(' '), fields };
}
