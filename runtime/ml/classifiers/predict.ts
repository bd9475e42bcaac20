import type { EncoderService } from '../../encoders/contract.js';
import { checkProbe, embedded } from './embedder.js';
import type { ClassifierCard, HeldClassifier } from './memory.js';

/** Classifiers whose embedder was found to be the one that they were fitted on. */
const checked = new WeakSet<ClassifierCard>();

/** Probabilities of texts, one row per text. Throws `not_found` where the embedder is gone, `model_failed` where it became another one. */
export async function predicted(
  encoders: EncoderService,
  { name, model, card }: HeldClassifier,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array> {
  const all = new Float32Array(texts.length * model.classes);
  if (!checked.has(card)) await checkProbe(encoders, name, card, signal);
  checked.add(card);
  for await (const { from, vectors } of embedded(encoders, card, texts, { signal }))
    all.set(await model.predict(vectors), from * model.classes);
  return all;
}
