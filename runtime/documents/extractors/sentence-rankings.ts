import { type Graph, pageRank } from '../text/rank.js';
import { sentencesOf } from '../text/sentences.js';
import { stopWordsOf } from '../text/stop-words.js';
import { type Span, wordsOf } from '../text/words.js';

/** Sentences that are compared with each other, at a cost of their number squared; of more, evenly spread ones stand for all. */
const COMPARED_SENTENCES = 300;
/** Words of a sentence that count. */
const SENTENCE_WORDS = 200;
const WORD_UNITS = 64;

/** A sentence that may go into a summary. */
interface Sentence extends Span {
  /** All its words in lower case. */
  readonly words: readonly string[];
  /** Its words that are no stop words, with how often they occur. */
  readonly terms: ReadonlyMap<string, number>;
}

/** Scores sentences, the higher the better. `wanted` is how many the summary takes. */
export type Ranking = (sentences: readonly Sentence[], wanted: number) => ArrayLike<number>;

function describe(span: Span, stops: ReadonlySet<string>): Sentence {
  const words = wordsOf(span.text)
    .slice(0, SENTENCE_WORDS)
    .map((word) => word.text.slice(0, WORD_UNITS).toLowerCase());
  const terms = new Map<string, number>();
  for (const word of words) if (!stops.has(word)) terms.set(word, (terms.get(word) ?? 0) + 1);
  return { ...span, words, terms };
}

/** The sentences of `least` to `most` code units that a summary is picked from, in the order of the text, and how many the text has in all. */
export function pickable(text: string, least: number, most: number): { sentences: Sentence[]; total: number } {
  const all = sentencesOf(text);
  const fitting = all.filter((one) => one.text.length >= least && one.text.length <= most);
  const step = Math.max(1, fitting.length / COMPARED_SENTENCES);
  const count = Math.min(fitting.length, COMPARED_SENTENCES);
  const stops = stopWordsOf('en');
  const sentences = Array.from({ length: count }, (_, index) => describe(fitting[Math.floor(index * step)]!, stops));
  return { sentences, total: all.length };
}

/** The terms of each sentence with count * ln(sentences / sentences with the term). */
function tfidfVectors(sentences: readonly Sentence[]): Map<string, number>[] {
  const spread = new Map<string, number>();
  for (const { terms } of sentences) for (const term of terms.keys()) spread.set(term, (spread.get(term) ?? 0) + 1);
  return sentences.map(
    ({ terms }) => new Map([...terms].map(([term, count]) => [term, count * Math.log(sentences.length / spread.get(term)!)])),
  );
}

/** The sum of products over the terms that both have. */
function dot(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [term, weight] of a) sum += weight * (b.get(term) ?? 0);
  return sum;
}

/** A graph of sentences whose edges weigh as alike as the two are; those of `least` or less are left out. */
function alikeness(sentences: readonly Sentence[], alike: (a: Sentence, b: Sentence) => number, least = 0): Graph {
  const edges: { from: number[]; to: number[]; weights: number[] } = { from: [], to: [], weights: [] };
  sentences.forEach((a, from) => {
    for (let to = from + 1; to < sentences.length; to += 1) {
      const weight = alike(a, sentences[to]!);
      if (weight <= least) continue;
      edges.from.push(from);
      edges.to.push(to);
      edges.weights.push(weight);
    }
  });
  return { size: sentences.length, ...edges };
}

/** Words in common over the logarithms of both lengths, as in the paper. */
function overlap(a: Sentence, b: Sentence): number {
  let common = 0;
  for (const term of a.terms.keys()) if (b.terms.has(term)) common += 1;
  const lengths = Math.log(a.words.length) + Math.log(b.words.length);
  return common === 0 || lengths <= 0 ? 0 : common / lengths;
}

/** TextRank (Mihalcea and Tarau 2004): sentences linked by the words they share, ranked by PageRank. */
export const textrank: Ranking = (sentences) => pageRank(alikeness(sentences, overlap));

/** Sentences less alike than this are not linked. */
const THRESHOLD = 0.1;

/** LexRank (Erkan and Radev 2004): sentences linked where the cosine of their TF-IDF vectors is over 0.1, every link alike, ranked by PageRank. */
export const lexrank: Ranking = (sentences) => {
  const vectors = new Map<Sentence, Map<string, number>>(tfidfVectors(sentences).map((vector, index) => [sentences[index]!, vector]));
  const norms = new Map([...vectors].map(([sentence, vector]) => [sentence, Math.sqrt(dot(vector, vector))]));
  const cosine = (a: Sentence, b: Sentence): number => {
    const lengths = norms.get(a)! * norms.get(b)!;
    return lengths === 0 ? 0 : dot(vectors.get(a)!, vectors.get(b)!) / lengths;
  };
  return pageRank(alikeness(sentences, (a, b) => (cosine(a, b) > THRESHOLD ? 1 : 0)));
};

/** Words between two significant ones that do not part a cluster. */
const GAP = 4;
/** A word is significant from so many occurrences on. */
const SIGNIFICANT = 2;

/** The best cluster of a sentence: its significant words squared over its length. */
function bestCluster({ words }: Sentence, significant: (word: string) => boolean): number {
  let best = 0;
  let start = 0;
  let last = -GAP - 2;
  let count = 0;
  words.forEach((word, at) => {
    if (!significant(word)) return;
    if (at - last - 1 > GAP) {
      start = at;
      count = 0;
    }
    count += 1;
    last = at;
    best = Math.max(best, count ** 2 / (at - start + 1));
  });
  return best;
}

/** Luhn's method (1958): a sentence scores its densest cluster of words that the text repeats. */
export const luhn: Ranking = (sentences) => {
  const counts = new Map<string, number>();
  for (const { terms } of sentences) for (const [term, count] of terms) counts.set(term, (counts.get(term) ?? 0) + count);
  return sentences.map((sentence) => bestCluster(sentence, (word) => (counts.get(word) ?? 0) >= SIGNIFICANT));
};

const ROUNDS = 60;
const NEGLIGIBLE = 1e-9;

/** The strongest eigenvectors of a symmetric matrix without negative eigenvalues, by power iteration and deflation. */
function eigenpairs(matrix: Float64Array[], count: number): { value: number; vector: Float64Array }[] {
  const size = matrix.length;
  const pairs: { value: number; vector: Float64Array }[] = [];
  while (pairs.length < count) {
    // A fixed start that no eigenvector of a text is likely to be at right angles to.
    let vector = Float64Array.from({ length: size }, (_, index) => 1 + ((index * 7919) % 101) / 101);
    let value = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const next = matrix.map((row) => row.reduce((sum, cell, column) => sum + cell * vector[column]!, 0));
      value = Math.hypot(...next);
      if (value < NEGLIGIBLE) return pairs;
      vector = Float64Array.from(next, (one) => one / value);
    }
    pairs.push({ value, vector });
    for (let row = 0; row < size; row += 1) {
      for (let column = 0; column < size; column += 1) matrix[row]![column]! -= value * vector[row]! * vector[column]!;
    }
  }
  return pairs;
}

/**
 * Latent semantic analysis after Steinberger and Jezek (2004): a sentence scores the length of its vector in the strongest topics of the
 * term by sentence matrix, each weighed by its singular value. The right singular vectors are the eigenvectors of sentences by sentences.
 */
export const lsa: Ranking = (sentences, wanted) => {
  const matrix = sentences.map((a) => Float64Array.from(sentences, (b) => dot(a.terms, b.terms)));
  const topics = eigenpairs(matrix, Math.min(wanted, sentences.length));
  return sentences.map((_, index) => Math.sqrt(topics.reduce((sum, { value, vector }) => sum + value * vector[index]! ** 2, 0)));
};
