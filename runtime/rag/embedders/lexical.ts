import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import type { EmbedderKind } from './contract.js';
import { foldedWords, lexicalVector } from './hashed-words.js';
import { settingsOf } from './settings.js';

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
