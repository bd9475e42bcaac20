import type { Candidate } from './choose.js';
import { type Fragment, type Fragments, gramsOf, phraseOf, type Token } from './tokens.js';

/** A word with what YAKE counts of it. */
interface Term {
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
function termsOf({ fragments, sentences }: Fragments): Map<string, Term> {
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

/** Stop words inside a phrase weigh by how surely they link their neighbours. */
function stopWeight(terms: Map<string, Term>, before: string, stop: string, after: string): number {
  const forward = (terms.get(before)!.right.get(stop) ?? 0) / terms.get(before)!.frequency;
  const backward = (terms.get(stop)!.right.get(after) ?? 0) / terms.get(after)!.frequency;
  return forward * backward;
}

function scoreOf(gram: Fragment, count: number, terms: Map<string, Term>): number {
  let product = 1;
  let sum = 0;
  gram.forEach((token, index) => {
    if (!token.stop) {
      product *= terms.get(token.lower)!.score;
      sum += terms.get(token.lower)!.score;
      return;
    }
    const weight = stopWeight(terms, gram[index - 1]!.lower, token.lower, gram[index + 1]!.lower);
    product *= 1 + (1 - weight);
    sum -= 1 - weight;
  });
  // Weak links can push the sum below -1, where the quotient would turn round.
  return product / (count * (1 + Math.max(sum, 0)));
}

/**
 * YAKE (Campos, Mangaravite, Pasquali, Jorge, Nunes and Jatowt 2020): stretches of words that neither start nor end with a stop word
 * score the product of their words' scores over (1 + their sum), the lower the more often they occur. **Low is good.**
 */
export function yake(fragments: Fragments, least: number, most: number): Candidate[] {
  const terms = termsOf(fragments);
  const found = new Map<string, { gram: Fragment; count: number }>();
  for (const gram of gramsOf(fragments.fragments, least, most)) {
    if (gram[0]!.stop || gram.at(-1)!.stop) continue;
    const phrase = phraseOf(gram);
    const known = found.get(phrase);
    if (known) known.count += 1;
    else found.set(phrase, { gram, count: 1 });
  }
  return [...found].map(([phrase, { gram, count }]) => ({ phrase, count, score: scoreOf(gram, count, terms) }));
}
