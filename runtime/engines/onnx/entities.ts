import type { Entity } from '../encoder-contract.js';
import { CodePoints, type Span, wordsOf } from './words.js';

/** The most probable label of a token, by its index, and its probability. */
export interface Labelling {
  readonly label: number;
  readonly score: number;
}

/** A token's label, and where it stands in the text. */
export interface PlacedToken extends Labelling {
  readonly place: Span;
}

interface LabelledWord extends Span {
  /** Position among all words of the text. */
  readonly index: number;
  readonly label: string;
  readonly score: number;
}

interface Open {
  readonly type: string;
  readonly words: LabelledWord[];
}

/** The label that a token's logits name, one logit per label. */
export function labelOf(logits: Float32Array): Labelling {
  let label = 0;
  for (let at = 1; at < logits.length; at += 1) if (logits[at]! > logits[label]!) label = at;
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - logits[label]!), 0);
  return { label, score: 1 / sum };
}

/** Each word with the label of its first token; words that no token begins in are left out. */
function labelled(text: string, tokens: readonly PlacedToken[], labels: readonly string[]): LabelledWord[] {
  const out: LabelledWord[] = [];
  let next = 0;
  wordsOf(text).forEach((word, index) => {
    while (next < tokens.length && tokens[next]!.place.start < word.start) next += 1;
    const first = tokens[next];
    if (!first || first.place.start >= word.end) return;
    const { label, score } = first;
    out.push({ ...word, index, label: labels[label] ?? String(label), score });
  });
  return out;
}

/** A label in the usual schemes: what it names, and whether it opens or ends a run. */
function parted(label: string): { type: string; opens: boolean; ends: boolean } | undefined {
  if (label === '' || label === 'O') return undefined;
  const match = /^([BIESLU])[-_](.+)$/.exec(label);
  if (!match) return { type: label, opens: false, ends: false };
  return { type: match[2]!, opens: 'BSU'.includes(match[1]!), ends: 'ESLU'.includes(match[1]!) };
}

/**
 * Entities of a text from its tokens' labels, by words: a word has the label of its first token, words in a row of one type are one entity
 * (`B-` begins another), its score is the mean of its words, and its places count code points.
 */
export function entitiesOf(text: string, tokens: readonly PlacedToken[], labels: readonly string[]): Entity[] {
  const found: Open[] = [];
  let open: Open | undefined;
  for (const word of labelled(text, tokens, labels)) {
    const label = parted(word.label);
    const goesOn = label && open && !label.opens && open.type === label.type && open.words.at(-1)!.index === word.index - 1;
    if (goesOn) open!.words.push(word);
    else if (label) {
      open = { type: label.type, words: [word] };
      found.push(open);
    }
    if (!label || label.ends) open = undefined;
  }
  const points = new CodePoints(text);
  return found.map(({ type, words }) => {
    const { start } = words[0]!;
    const { end } = words.at(-1)!;
    const score = words.reduce((sum, word) => sum + word.score, 0) / words.length;
    return { text: text.slice(start, end), label: type, start: points.at(start), end: points.at(end), score };
  });
}
