import { Failure } from '../../../schemas/errors.js';
import type { EncoderAsk, EncoderService } from '../../encoders/contract.js';
import { howToFetch } from '../../engines/model-missing.js';
import { TEXTS_AT_ONCE } from './limits.js';

/** Taken when a request names none and its weights are here. */
const USUAL = 'sentence-transformers/all-MiniLM-L6-v2';
const LEXICAL = 'quern-lexical';
const LEXICAL_NAMES: readonly string[] = [LEXICAL, 'lexical'];
/** More than the embedder's default, so that fewer words share a component: see docs/decisions/classifiers.md. */
const LEXICAL_DIMENSIONS = 1024;

/** Embedded with every classifier, so that other weights under the same name are noticed. */
const PROBE = 'The quick brown fox jumps over the lazy dog.';
/** Number formats of the same weights are at least so alike: int8 and float32 give 0.995. */
const SAME_COSINE = 0.97;

/** Embeddings of a few texts, one row after the other. */
export interface EmbeddedTexts {
  /** Of the first of them. */
  readonly from: number;
  readonly count: number;
  readonly dimensions: number;
  readonly vectors: Float32Array;
}

/** What turns the texts of a classifier into embeddings. */
export interface ChosenEmbedder {
  readonly model: string;
  readonly notes: readonly string[];
}

/** The embedder of a fit. Throws `not_found` with the command that downloads it for a named one that is not here. */
export async function chooseEmbedder(encoders: EncoderService, asked: string | undefined, signal: AbortSignal): Promise<ChosenEmbedder> {
  if (asked !== undefined && LEXICAL_NAMES.includes(asked)) return { model: LEXICAL, notes: [] };
  const model = asked ?? USUAL;
  try {
    // No texts: nothing is loaded, but that it is there is checked.
    await encoders.embed({ model, signal }, []);
    return { model, notes: [] };
  } catch (error) {
    if (asked !== undefined || !(error instanceof Failure) || error.kind !== 'not_found') throw error;
    return {
      model: LEXICAL,
      notes: [
        `${USUAL} is not on this machine; the lexical embedder, which compares words and not meanings, was used. For a better classifier, ${howToFetch(USUAL)}, and fit again.`,
      ],
    };
  }
}

/** Embeds texts a few at a time. Throws what the encoder throws, and the reason of the abort. */
export async function* embedded(
  encoders: EncoderService,
  ask: Pick<EncoderAsk, 'model' | 'urgency' | 'signal'>,
  texts: readonly string[],
): AsyncGenerator<EmbeddedTexts> {
  for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
    ask.signal.throwIfAborted();
    const some = texts.slice(from, from + TEXTS_AT_ONCE);
    const { vectors: rows } = await encoders.embed(ask, some, ask.model === LEXICAL ? LEXICAL_DIMENSIONS : undefined);
    const dimensions = rows[0]!.length;
    const vectors = new Float32Array(rows.length * dimensions);
    for (const [at, row] of rows.entries()) vectors.set(row, at * dimensions);
    yield { from, count: rows.length, dimensions, vectors };
  }
}

/** The embedding of a fixed sentence, in base64: what `checkProbe` compares with later. */
export async function probeOf(encoders: EncoderService, model: string, signal: AbortSignal): Promise<string> {
  for await (const { vectors } of embedded(encoders, { model, signal }, [PROBE])) return Buffer.from(vectors.buffer).toString('base64');
  throw new Failure('model_failed', `${model} made no embedding.`);
}

/** Throws `model_failed` where a model no longer makes the embeddings that it made. `name` is the classifier's. */
export async function checkProbe(encoders: EncoderService, name: string, model: string, probe: string, signal: AbortSignal): Promise<void> {
  const [now, then] = [await probeOf(encoders, model, signal), probe].map(
    (text) => new Float32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer),
  );
  const isSame = now!.length === then!.length && cosineOf(now!, then!) >= SAME_COSINE;
  if (isSame) return;
  throw new Failure(
    'model_failed',
    `${model} makes other embeddings than those that the classifier "${name}" was fitted on. Fit it again.`,
    {
      code: 'EmbedderChanged',
    },
  );
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  const dot = (one: Float32Array, two: Float32Array): number => one.reduce((sum, value, at) => sum + value * two[at]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
