import { breathe } from '../../base/loop.js';
import { finishHash, hashStep } from '../../documents/text/words.js';

/** Features of a classifier on TF-IDF vectors: as many as its fit has room for, within these bounds. */
const [LEAST_FEATURES, MOST_FEATURES] = [1023, 4095];
/** Numbers of the TF-IDF vectors of a fit that it has room for: 128 MiB. */
const TFIDF_NUMBERS = 2 ** 25;
/** The same for features times labels; a fit keeps several such tables. */
const TFIDF_CELLS = 2 ** 19;

/** Code units of the shortest and longest n-grams; the space at both ends of a word counts. */
const [LEAST, MOST] = [2, 5];
/** How often a whole word counts. */
const WHOLE = 2;
const GRAM_SEED = 0x9e3779b9;
const WORD_SEED = 0x2545f491;
const SPACE = 0x20;
/** Bits of a feature's number. */
const BITS = 20;
/** Code units of a text between two looks at the clock. */
const STRIDE = 1024;

/** The features that a fit found most often in its texts, and how much each says: the numbers of the features, with their weights. */
export type Vocabulary = ReadonlyMap<number, { readonly at: number; readonly weight: number }>;

/** The code unit at a place; a space for white space, and before and after the text. NFKC leaves hardly any other white space. */
function unitAt(text: string, at: number): number {
  const unit = at < 0 || at >= text.length ? SPACE : text.charCodeAt(at);
  return unit < SPACE ? SPACE : unit;
}

/** Is told a feature of a text, by its number, and how often more it occurs. */
type Visit = (feature: number, times: number) => void;

const featureOf = (hash: number): number => finishHash(hash) >>> (32 - BITS);

/** Visits the n-grams of a word, or of its beginning or end, that begin at a place. */
function visitGrams(text: string, from: number, visit: Visit): void {
  const first = unitAt(text, from);
  let hash = hashStep(GRAM_SEED, first);
  for (let size = LEAST; size <= MOST && from + size <= text.length + 1; size += 1) {
    const unit = unitAt(text, from + size - 1);
    if (unit === SPACE && first === SPACE && size === LEAST) return;
    hash = hashStep(hash, unit);
    visit(featureOf(hash), 1);
    if (unit === SPACE) return;
  }
}

/** Visits the features of a text: its words, twice each, and the n-grams inside them. Each is hashed to a number. */
async function visitFeatures(text: string, visit: Visit, signal: AbortSignal): Promise<void> {
  const plain = text.normalize('NFKC').toLowerCase();
  let word = WORD_SEED;
  for (let at = -1; at <= plain.length; at += 1) {
    visitGrams(plain, at, visit);
    const unit = unitAt(plain, at);
    if (unit !== SPACE) word = hashStep(word, unit);
    else {
      if (unitAt(plain, at - 1) !== SPACE) visit(featureOf(word), WHOLE);
      word = WORD_SEED;
    }
    if (at % STRIDE !== 0) continue;
    await breathe();
    signal.throwIfAborted();
  }
}

/** How many features a fit keeps: so many that the vectors of its texts, and the weights of its labels, are within the limits. */
export function featuresOfFit(texts: number, labels: number): number {
  const most = Math.min(MOST_FEATURES, Math.floor(TFIDF_NUMBERS / texts), Math.floor(TFIDF_CELLS / labels));
  return Math.max(LEAST_FEATURES, most);
}

/**
 * The vocabulary of texts, as text: the `most` features that most texts have, each with the weight 1 + ln((1 + texts) / (1 + texts with it)).
 * Gives the event loop back now and then; throws the reason of the abort.
 */
export async function vocabularyOf(texts: readonly string[], most: number, signal: AbortSignal): Promise<string> {
  const having = new Uint32Array(2 ** BITS);
  /** By feature the last text that had it, counted from 1. */
  const last = new Uint32Array(2 ** BITS);
  for (const [at, text] of texts.entries()) {
    const note: Visit = (feature) => {
      if (last[feature] === at + 1) return;
      last[feature] = at + 1;
      having[feature]! += 1;
    };
    await visitFeatures(text, note, signal);
  }
  const least = leastOf(having, most);
  const features: number[] = [];
  // Those above the bar, then those on it in the order of their numbers.
  for (const isKept of [(texts: number) => texts > least, (texts: number) => texts === least])
    for (let at = 0; at < having.length && features.length < most; at += 1) if (isKept(having[at]!)) features.push(at);
  const weights = features.map((feature) => 1 + Math.log((1 + texts.length) / (1 + having[feature]!)));
  return Buffer.concat([Uint32Array.from(features), Float32Array.from(weights)].map(({ buffer }) => Buffer.from(buffer))).toString(
    'base64',
  );
}

/** The number of texts, 1 at least, that a feature must have so that about `most` have as many. */
function leastOf(having: Uint32Array, most: number): number {
  const features = new Map<number, number>();
  for (const texts of having) if (texts > 0) features.set(texts, (features.get(texts) ?? 0) + 1);
  let room = most;
  for (const [texts, count] of [...features].sort(([a], [b]) => b - a)) {
    room -= count;
    if (room <= 0) return texts;
  }
  return 1;
}

/** Reads what `vocabularyOf` wrote. */
export function readVocabulary(text: string): Vocabulary {
  const { buffer } = Uint8Array.from(Buffer.from(text, 'base64'));
  const length = buffer.byteLength / 8;
  const weights = new Float32Array(buffer, length * 4);
  return new Map(Array.from(new Uint32Array(buffer, 0, length), (feature, at) => [feature, { at, weight: weights[at]! }]));
}

/**
 * The vector of a text, of length 1: for each feature of the vocabulary (1 + ln of its count) times its weight, and last a component that
 * is 1 where the text has none of them.
 */
export async function tfidfVector(text: string, vocabulary: Vocabulary, signal: AbortSignal): Promise<Float32Array> {
  const counts = new Float64Array(vocabulary.size);
  const add: Visit = (feature, times) => {
    const known = vocabulary.get(feature);
    if (known !== undefined) counts[known.at]! += times;
  };
  await visitFeatures(text, add, signal);
  const vector = new Float32Array(vocabulary.size + 1);
  let squares = 0;
  for (const { at, weight } of vocabulary.values()) {
    if (counts[at] === 0) continue;
    const value = (1 + Math.log(counts[at]!)) * weight;
    vector[at] = value;
    squares += value * value;
  }
  if (squares === 0) vector[vocabulary.size] = 1;
  return squares === 0 ? vector : vector.map((value) => value / Math.sqrt(squares));
}
