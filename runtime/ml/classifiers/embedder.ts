import { Failure } from '../../../schemas/errors.js';
import type { EncoderAsk, EncoderService } from '../../encoders/contract.js';
import { howToFetch } from '../../formats/model-files.js';
import type { ClassifierCard } from './classifier-folder.js';
import type { Learnable } from './examples.js';
import { featuresOfFit, readVocabulary, tfidfVector, type Vocabulary, vocabularyOf } from './tfidf.js';

/** Texts that are embedded in one go; a native call takes 2^18 numbers. */
const TEXTS_AT_ONCE = 64;

/** Taken when a request names none and its weights are here. */
const USUAL = 'sentence-transformers/all-MiniLM-L6-v2';
/** Taken when they are not: learned from the examples alone. */
const TFIDF = 'quern-tfidf';
const LEXICAL = 'quern-lexical';
const LEXICAL_NAMES: readonly string[] = [LEXICAL, 'lexical'];
/** More than the embedder's default, so that fewer words share a component: see docs/decisions/classifiers.md. */
const LEXICAL_DIMENSIONS = 1024;

/** Embedded with every classifier, so that other weights under the same name are noticed. */
const PROBE = 'The quick brown fox jumps over the lazy dog.';
/** Number formats of the same weights are at least so alike: int8 and float32 give 0.995. */
const SAME_COSINE = 0.97;

/** Embeddings of a few texts, one row after the other. */
interface EmbeddedTexts {
  /** Of the first of them. */
  readonly from: number;
  readonly count: number;
  readonly dimensions: number;
  readonly vectors: Float32Array;
}

/** What turns the texts of a classifier into embeddings. */
export type Embedder = Pick<ClassifierCard, 'embedder' | 'vocabulary'>;

/** The embedder of a fit, and what to tell its client. Throws `not_found` with the command that downloads it for a named one that is not here. */
export async function chooseEmbedder(
  encoders: EncoderService,
  asked: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly model: string; readonly notes: readonly string[] }> {
  if (asked === TFIDF) return { model: TFIDF, notes: [] };
  if (asked !== undefined && LEXICAL_NAMES.includes(asked)) return { model: LEXICAL, notes: [] };
  const model = asked ?? USUAL;
  try {
    // No texts: nothing is loaded, but that it is there is checked.
    await encoders.embed({ model, signal }, []);
    return { model, notes: [] };
  } catch (error) {
    if (asked !== undefined || !(error instanceof Failure) || error.kind !== 'not_found') throw error;
    return {
      model: TFIDF,
      notes: [
        `${USUAL} is not on this machine; TF-IDF, which compares words and parts of words and not meanings, was used. For a better classifier, ${howToFetch(USUAL)}, and fit again.`,
      ],
    };
  }
}

/** An embedder with what it learns from the examples of a fit. Throws the reason of the abort. */
export async function learnedEmbedder(embedder: string, { texts, labels }: Learnable, signal: AbortSignal): Promise<Embedder> {
  if (embedder !== TFIDF) return { embedder };
  return { embedder, vocabulary: await vocabularyOf(texts, featuresOfFit(texts.length, labels.length), signal) };
}

/** Embeds texts a few at a time. Throws what the encoder throws, and the reason of the abort. */
export async function* embedInParts(
  encoders: EncoderService,
  embedder: Embedder,
  texts: readonly string[],
  ask: Pick<EncoderAsk, 'urgency' | 'signal'>,
): AsyncGenerator<EmbeddedTexts> {
  const rowsOf = vectorsOf(encoders, embedder, ask);
  for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
    ask.signal.throwIfAborted();
    const some = texts.slice(from, from + TEXTS_AT_ONCE);
    const rows = await rowsOf(some);
    const dimensions = rows[0]!.length;
    const vectors = new Float32Array(rows.length * dimensions);
    for (const [at, row] of rows.entries()) vectors.set(row, at * dimensions);
    yield { from, count: rows.length, dimensions, vectors };
  }
}

/** Vocabularies that were read. */
const vocabularies = new WeakMap<Embedder, Vocabulary>();

function knownVocabulary(embedder: Embedder): Vocabulary | undefined {
  if (embedder.vocabulary === undefined) return undefined;
  const known = vocabularies.get(embedder) ?? readVocabulary(embedder.vocabulary);
  vocabularies.set(embedder, known);
  return known;
}

function vectorsOf(
  encoders: EncoderService,
  embedder: Embedder,
  ask: Pick<EncoderAsk, 'urgency' | 'signal'>,
): (texts: readonly string[]) => Promise<readonly Float32Array[]> {
  const model = embedder.embedder;
  const vocabulary = knownVocabulary(embedder);
  if (!vocabulary) {
    const dimensions = model === LEXICAL ? LEXICAL_DIMENSIONS : undefined;
    return async (texts) => (await encoders.embed({ model, ...ask }, texts, dimensions)).vectors;
  }
  return async (texts) => {
    const rows: Float32Array[] = [];
    for (const text of texts) rows.push(await tfidfVector(text, vocabulary, ask.signal));
    return rows;
  };
}

/** The embedding of a fixed sentence, in base64: what `checkProbe` compares with later. */
export async function probeOf(encoders: EncoderService, embedder: Embedder, signal: AbortSignal): Promise<string> {
  for await (const { vectors } of embedInParts(encoders, embedder, [PROBE], { signal })) return base64Of(vectors);
  throw new Failure('model_failed', `${embedder.embedder} made no embedding.`);
}

/** Throws `model_failed` where an embedder no longer makes the embeddings that it made. `name` is the classifier's. */
export async function checkProbe(encoders: EncoderService, name: string, card: ClassifierCard, signal: AbortSignal): Promise<void> {
  const [now, then] = [await probeOf(encoders, card, signal), card.probe].map(floatsOf);
  const isSame = now!.length === then!.length && cosineOf(now!, then!) >= SAME_COSINE;
  if (isSame) return;
  throw new Failure(
    'model_failed',
    `${card.embedder} makes other embeddings than those that the classifier "${name}" was fitted on. Fit it again.`,
    {
      code: 'EmbedderChanged',
    },
  );
}

function base64Of(numbers: Float32Array): string {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString('base64');
}

function floatsOf(text: string): Float32Array {
  return new Float32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  const dot = (one: Float32Array, two: Float32Array): number => one.reduce((sum, value, at) => sum + value * two[at]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
