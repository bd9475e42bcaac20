import { Failure } from '../../../../schemas/errors.js';
import { breathe } from '../../../base/loop.js';
import { lexicalVector } from './vector.js';
import { foldedWords } from './words.js';

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
