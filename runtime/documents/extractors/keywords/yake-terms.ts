import type { Fragments, Token } from './tokens.js';

/** A word with what YAKE counts of it. */
export interface Term {
  frequency: number;
  acronyms: number;
  /** Occurrences with a capital that do not open a sentence. */
  capitals: number;
  /** Sentence of each occurrence, ascending. */
  readonly sentences: number[];
  /** Neighbours with how often they stand there. */
  readonly left: Map<string, number>;
  readonly right: Map<string, number>;
  stop: boolean;
  /** The lower, the more telling. */
  score: number;
}

function note(terms: Map<string, Term>, token: Token): Term {
  const term: Term = terms.get(token.lower) ?? {
    frequency: 0,
    acronyms: 0,
    capitals: 0,
    sentences: [],
    left: new Map(),
    right: new Map(),
    stop: token.stop,
    score: 0,
  };
  terms.set(token.lower, term);
  term.frequency += 1;
  term.sentences.push(token.sentence);
  if (/^\p{Lu}[\p{Lu}\p{N}]+$/u.test(token.text)) term.acronyms += 1;
  else if (/^\p{Lu}/u.test(token.text) && !token.opensSentence) term.capitals += 1;
  return term;
}

const add = (to: Map<string, number>, word: string): unknown => to.set(word, (to.get(word) ?? 0) + 1);
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
/** Distinct neighbours over all of them: high for words that go with anything. */
const variety = (side: Map<string, number>): number => (side.size === 0 ? 0 : side.size / sum(side.values()));

/** Words of the text with the five features of YAKE (casing, position, frequency, relatedness, spread) and their joint score. */
export function termsOf({ fragments, sentences }: Fragments): Map<string, Term> {
  const terms = new Map<string, Term>();
  for (const fragment of fragments) {
    let before: Token | undefined;
    for (const token of fragment) {
      const term = note(terms, token);
      if (before) {
        add(term.left, before.lower);
        add(terms.get(before.lower)!.right, token.lower);
      }
      before = token;
    }
  }
  const frequencies = [...terms.values()].filter((term) => !term.stop).map((term) => term.frequency);
  const mean = sum(frequencies) / Math.max(frequencies.length, 1);
  const deviation = Math.sqrt(sum(frequencies.map((one) => (one - mean) ** 2)) / Math.max(frequencies.length, 1));
  const most = [...terms.values()].reduce((best, term) => Math.max(best, term.frequency), 1);
  for (const term of terms.values()) {
    const casing = Math.max(term.acronyms, term.capitals) / (1 + Math.log(term.frequency));
    const position = Math.log(Math.log(3 + median(term.sentences)));
    const frequency = term.frequency / (mean + deviation || 1);
    const related = 1 + (variety(term.left) + variety(term.right)) * (term.frequency / most);
    const spread = new Set(term.sentences).size / Math.max(sentences, 1);
    term.score = (position * related) / (casing + frequency / related + spread / related);
  }
  return terms;
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
