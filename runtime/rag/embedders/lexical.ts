import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import { stopWordsOf } from '../../documents/text/stop-words.js';
import { finishHash, hashStep } from '../../documents/text/words.js';
import type { EmbedderKind } from './contract.js';
import { settingsOf } from './settings.js';

const MARKS = /\p{M}+/gu;
const BEYOND_ASCII = /[^\p{ASCII}]/u;
const WORD_UNIT = /[\p{L}\p{N}\p{Cs}]/u;

/** What is known of each UTF-16 code unit: 1 belongs to a word, 2 does not, 0 was not asked yet. */
const kinds = new Uint8Array(65_536);

/** Letters and digits; halves of surrogate pairs too, so that rare scripts and emoji count. */
function inWord(unit: number): boolean {
  const kind = kinds[unit]! || (WORD_UNIT.test(String.fromCharCode(unit)) ? 1 : 2);
  kinds[unit] = kind;
  return kind === 1;
}

/** Lower case, compatibility forms folded, accents off. */
function folded(text: string): string {
  return (BEYOND_ASCII.test(text) ? text.normalize('NFKD').replace(MARKS, '') : text).toLowerCase();
}

/** The folded words of a text in order: runs of letters and digits. A loop over code units, several times as fast as a pattern. */
export function* foldedWords(text: string): Generator<string> {
  const plain = folded(text);
  let from = -1;
  for (let at = 0; at <= plain.length; at += 1) {
    const inside = at < plain.length && inWord(plain.charCodeAt(at));
    if (inside && from < 0) from = at;
    if (inside || from < 0) continue;
    yield plain.slice(from, at);
    from = -1;
  }
}

/** Shortest and longest character n-grams, with a mark at both ends of a word. Longer ones share the few components with too many others. */
const GRAM_SIZES = [3, 3] as const;
/** The same where characters are syllables or words. */
const UNSPACED_GRAM_SIZES = [1, 3] as const;
/** Longer words, which are keys and encoded bytes, give n-grams of their first characters only. */
const GRAM_UNITS = 64;
const WORD_SEED = 0x2545f491;
const GRAM_SEED = 0x9e3779b9;
const EDGE = 0x5f;

/** Adds a hashed feature: the top bit is the sign, the others choose the component (the hashing trick, Weinberger et al. 2009). */
function addFeature(into: Float64Array, hash: number, weight: number): void {
  const at = (hash & 0x7fffffff) % into.length;
  into[at]! += hash >>> 31 ? -weight : weight;
}

/** The hash of a whole word. */
function hashOf(word: string): number {
  let hash = WORD_SEED;
  for (let i = 0; i < word.length; i += 1) hash = hashStep(hash, word.charCodeAt(i));
  return finishHash(hash);
}

/** The hashes of the n-grams of `_word_`. */
function gramsOf(word: string, unspaced: boolean): number[] {
  const length = Math.min(word.length, GRAM_UNITS) + 2;
  const [least, most] = unspaced ? UNSPACED_GRAM_SIZES : GRAM_SIZES;
  const unit = (at: number): number => (at === 0 || at === length - 1 ? EDGE : word.charCodeAt(at - 1));
  const hashes: number[] = [];
  for (let from = 0; from + least <= length; from += 1) {
    let hash = GRAM_SEED;
    for (let size = 1; size <= most && from + size <= length; size += 1) {
      hash = hashStep(hash, unit(from + size - 1));
      if (size >= least) hashes.push(finishHash(hash));
    }
  }
  return hashes;
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Languages whose function words weigh little. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'];
const STOP_WORD = 0.05;
/** A run of a script that writes no spaces is hardly ever met twice as a whole. */
const UNSPACED_RUN = 0.2;
/** Words that are remembered, and the longest of them: about 10 MB. */
const MOST_WORDS = 2 ** 15;
const WORD_UNITS = 64;

/** What a word adds to a vector, whatever the text. */
interface KnownWord {
  /** Of the whole word. */
  readonly hash: number;
  /** The weight of the word when it occurs once, and the part of it that goes to the word as a whole. */
  readonly weight: number;
  readonly whole: number;
  /** Hashes of its character n-grams; none of a stop word. */
  readonly grams: readonly number[];
}

const stopWords = new Set(LANGUAGES.flatMap((language) => [...stopWordsOf(language)].flatMap((word) => word.split("'"))));
const known = new Map<string, KnownWord>();

/** A folded word. Texts repeat their words, so that most are hashed once. */
function knownWord(word: string): KnownWord {
  const found = known.get(word);
  if (found !== undefined) return found;
  const isStop = stopWords.has(word);
  const unspaced = UNSPACED.test(word);
  const made = {
    hash: hashOf(word),
    // Long words say more than short ones: what a document frequency would tell, without a corpus.
    weight: isStop ? STOP_WORD : 0.6 + 0.1 * Math.min(word.length, 10),
    whole: unspaced ? UNSPACED_RUN : 1,
    grams: isStop ? [] : gramsOf(word, unspaced),
  };
  if (word.length <= WORD_UNITS) {
    if (known.size >= MOST_WORDS) known.clear();
    // A copy: the word may be a view of its text, which would stay in memory with it.
    known.set(Buffer.from(word, 'utf16le').toString('utf16le'), made);
  }
  return made;
}

/** How much all n-grams of a word weigh together, measured by the word. */
const GRAMS = 3;
/** Words between two looks at the clock. */
const STRIDE = 256;

/** Adds a word that occurs `count` times. */
function addWord(into: Float64Array, { hash, weight: once, whole, grams }: KnownWord, count: number): void {
  const weight = once * (1 + Math.log(count));
  addFeature(into, hash, weight * whole);
  const share = (weight * GRAMS) / Math.sqrt(grams.length);
  for (let at = 0; at < grams.length; at += 1) addFeature(into, grams[at]!, share);
}

interface Counted {
  readonly word: KnownWord;
  count: number;
}

/** How often each word occurs. */
async function counted(text: string, signal: AbortSignal): Promise<Iterable<Counted>> {
  const words = new Map<string, Counted>();
  let seen = 0;
  for (const written of foldedWords(text)) {
    let found = words.get(written);
    if (found === undefined) {
      found = { word: knownWord(written), count: 0 };
      words.set(written, found);
    }
    found.count += 1;
    seen += 1;
    if (seen % STRIDE !== 0) continue;
    await breathe();
    signal.throwIfAborted();
  }
  return words.values();
}

/**
 * The vector of a text: hashed words and character n-grams, each weighted by 1 + ln of its count. Not of length 1.
 * Integer hashing and additions in the order of the text make it the same on every machine. Gives the event loop back now and then; throws
 * the reason of the abort.
 */
export async function lexicalVector(text: string, dimensions: number, signal: AbortSignal): Promise<Float32Array> {
  const sums = new Float64Array(dimensions);
  let seen = 0;
  for (const { word, count } of await counted(text, signal)) {
    addWord(sums, word, count);
    seen += 1;
    if (seen % STRIDE !== 0) continue;
    await breathe();
    signal.throwIfAborted();
  }
  // Signs only, or features that cancel each other out: the text as a whole is then its one feature.
  if (sums.every((sum) => sum === 0)) addFeature(sums, hashOf(text.trim()), 1);
  return Float32Array.from(sums);
}

/** Changes whenever the vectors of a text do, so that cached ones are not mixed with new ones. */
const VERSION = 2;

const OPTIONS = {
  dimension: { type: 'integer', default: 384, minimum: 64, maximum: 4096, description: 'Dimensions of the vectors.' },
  batch_size: { type: 'integer', default: 64, minimum: 1, maximum: 1024, description: 'Texts of one turn.' },
} as const satisfies OptionShapes;

/** The embedder that needs no model: texts are alike when their words, and parts of words, are. */
export const lexical: EmbedderKind = {
  type: 'LexicalEmbedder',
  options: OPTIONS,
  open(strategy) {
    const settings = settingsOf(strategy, OPTIONS);
    return {
      model: 'lexical',
      settings: { version: VERSION },
      dimensions: settings.dimension,
      batchSize: settings.batch_size,
      normalise: true,
      async send(texts, _purpose, signal) {
        const vectors: Float32Array[] = [];
        for (const text of texts) {
          vectors.push(await lexicalVector(text, settings.dimension, signal));
          await breathe();
          signal.throwIfAborted();
        }
        return vectors;
      },
    };
  },
};

const DIMENSIONS = 384;
const LEAST = 64;
const MOST = 4096;

function refused(at: string | number, msg: string, input: unknown): Failure {
  const loc = typeof at === 'number' ? ['body', 'input', at] : ['body', at];
  return new Failure('invalid', `${msg}.`, { errors: [{ type: 'value_error', loc, msg, input }] });
}

/**
 * Vectors of length 1 by words and parts of words, for those who ask `/v1/embeddings` for them by name; no model is needed. `tokens` counts
 * words. Throws `invalid` for a blank text and for dimensions out of range.
 */
export async function lexicalEmbeddings(
  texts: readonly string[],
  dimensions: number = DIMENSIONS,
  signal: AbortSignal,
): Promise<{ vectors: Float32Array[]; tokens: number }> {
  if (dimensions < LEAST || dimensions > MOST)
    throw refused('dimensions', `dimensions is ${dimensions}; lexical vectors have ${LEAST} to ${MOST}`, dimensions);
  const vectors: Float32Array[] = [];
  let tokens = 0;
  for (const [at, text] of texts.entries()) {
    if (text.trim() === '') throw refused(at, `input[${at}] is empty, and an empty text has no words to compare`, text);
    const vector = await lexicalVector(text, dimensions, signal);
    const length = Math.hypot(...vector);
    vectors.push(vector.map((component) => component / length));
    for (const _word of foldedWords(text)) tokens += 1;
    await breathe();
    signal.throwIfAborted();
  }
  return { vectors, tokens };
}
