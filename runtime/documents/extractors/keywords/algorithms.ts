import { pageRank } from '../../text/rank.js';
import { type Candidate, type Fragment, type Fragments, gramsOf, phraseOf, runsOf, type Token } from './phrases.js';

/**
 * Rapid automatic keyword extraction (Rose, Engel, Cramer and Cowley 2010): phrases are the runs of words between stop words and marks;
 * a word scores its degree (words in the phrases it is in) over its frequency, a phrase the sum of its words. High is good.
 */
export function rakeCandidates({ fragments }: Fragments, least: number, most: number): Candidate[] {
  const words = new Map<string, { frequency: number; degree: number }>();
  const runs = [...runsOf(fragments, (token) => !token.stop)];
  for (const run of runs) {
    for (const { lower } of run) {
      const word = words.get(lower) ?? { frequency: 0, degree: 0 };
      word.frequency += 1;
      word.degree += run.length;
      words.set(lower, word);
    }
  }
  const found = new Map<string, { score: number; count: number }>();
  for (const run of runs.filter((one) => one.length >= least && one.length <= most)) {
    const phrase = phraseOf(run);
    const known = found.get(phrase);
    if (known) known.count += 1;
    else {
      const score = run.reduce((sum, { lower }) => sum + words.get(lower)!.degree / words.get(lower)!.frequency, 0);
      found.set(phrase, { score, count: 1 });
    }
  }
  return [...found].map(([phrase, one]) => ({ phrase, ...one }));
}

/** Words at most so far apart are linked. */
const REACH = 2;
/** The best third of the words make phrases, as in the paper, but at least so many. */
const LEAST_WORDS = 10;

function ranksOf(fragments: readonly Fragment[]): Map<string, number> {
  const nodes = new Map<string, number>();
  const edges = new Map<string, { from: number; to: number; weight: number }>();
  const node = (word: string): number => {
    const known = nodes.get(word) ?? nodes.size;
    nodes.set(word, known);
    return known;
  };
  for (const fragment of fragments) {
    fragment.forEach((token, index) => {
      if (token.stop) return;
      const a = node(token.lower);
      for (const other of fragment.slice(index + 1, index + 1 + REACH)) {
        const b = other.stop ? a : node(other.lower);
        if (a === b) continue;
        const [from, to] = a < b ? [a, b] : [b, a];
        const edge = edges.get(`${from} ${to}`) ?? { from, to, weight: 0 };
        edge.weight += 1;
        edges.set(`${from} ${to}`, edge);
      }
    });
  }
  const all = [...edges.values()];
  const ranks = pageRank({
    size: nodes.size,
    from: all.map((edge) => edge.from),
    to: all.map((edge) => edge.to),
    weights: all.map((edge) => edge.weight),
  });
  return new Map([...nodes].map(([word, index]) => [word, ranks[index]!]));
}

/**
 * TextRank (Mihalcea and Tarau 2004): words near each other are linked and ranked by weighted PageRank; runs of the best third become
 * phrases that score the sum of their words. Without a tagger, every word that is no stop word takes part. High is good.
 */
export function textrankCandidates({ fragments }: Fragments, least: number, most: number): Candidate[] {
  const ranks = ranksOf(fragments);
  const best = [...ranks].sort((a, b) => b[1] - a[1]).slice(0, Math.max(LEAST_WORDS, Math.ceil(ranks.size / 3)));
  const strong = new Set(best.map(([word]) => word));
  const found = new Map<string, { score: number; count: number }>();
  for (const run of runsOf(fragments, (token) => !token.stop && strong.has(token.lower))) {
    if (run.length < least || run.length > most) continue;
    const phrase = phraseOf(run);
    const score = run.reduce((sum, token) => sum + ranks.get(token.lower)!, 0);
    found.set(phrase, { score, count: (found.get(phrase)?.count ?? 0) + 1 });
  }
  return [...found].map(([phrase, one]) => ({ phrase, ...one }));
}

/**
 * Term frequency by inverse document frequency, the sentences of the text being the documents: count * (ln((1 + sentences) / (1 + sentences
 * with it)) + 1), the smoothed form. Terms are runs of words without stop words. High is good.
 */
export function tfidfCandidates({ fragments, sentences }: Fragments, least: number, most: number): Candidate[] {
  const found = new Map<string, { count: number; spread: number; last: number }>();
  for (const gram of gramsOf(
    runsOf(fragments, (token) => !token.stop),
    least,
    most,
  )) {
    const phrase = phraseOf(gram);
    const term = found.get(phrase) ?? { count: 0, spread: 0, last: -1 };
    term.count += 1;
    if (term.last !== gram[0]!.sentence) term.spread += 1;
    term.last = gram[0]!.sentence;
    found.set(phrase, term);
  }
  return [...found].map(([phrase, { count, spread }]) => ({
    phrase,
    count,
    score: count * (Math.log((1 + sentences) / (1 + spread)) + 1),
  }));
}

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

function noteTerm(terms: Map<string, Term>, token: Token): Term {
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
      const term = noteTerm(terms, token);
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
export function yakeCandidates(fragments: Fragments, least: number, most: number): Candidate[] {
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
