import { availableParallelism } from 'node:os';
import type { FittedClassifier, NativeClassifierFit } from '../../../native/contract.js';
import { loadCore } from '../../../native/core.js';
import type { EncoderService } from '../../encoders/contract.js';
import type { FitAsk } from './contract.js';
import { type Embedder, embedded, learnedEmbedder } from './embedder.js';
import type { Learnable } from './examples.js';

/** Threads of one fit: the others answer meanwhile. */
const THREADS = Math.max(1, Math.min(8, Math.floor(availableParallelism() / 2)));

/** Embeds the examples and fits on them; `embedder` is the one asked for, with what it has learned. Throws what the encoder and the fit throw, and the reason of the abort. */
export async function fitClassifier(
  encoders: EncoderService,
  embedder: string,
  { iterations, batchSize, seed }: Pick<FitAsk, 'iterations' | 'batchSize' | 'seed'>,
  examples: Learnable,
  signal: AbortSignal,
): Promise<FittedClassifier & { readonly embedder: Embedder; readonly embeddingTimeMs: number }> {
  const { texts, labels, targets } = examples;
  const startMs = performance.now();
  const learned = await learnedEmbedder(embedder, examples, signal);
  let fit: NativeClassifierFit | undefined;
  for await (const { from, count, dimensions, vectors } of embedded(encoders, learned, texts, { urgency: 'bulk', signal })) {
    fit ??= loadCore().openClassifierFit({
      dimensions,
      classes: labels.length,
      rows: texts.length,
      iterations,
      batchSize,
      seed,
      threads: THREADS,
    });
    fit.add(vectors, targets.subarray(from, from + count));
  }
  signal.throwIfAborted();
  const embeddingTimeMs = performance.now() - startMs;
  const running = fit!;
  const cancel = (): void => running.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return { ...(await running.run()), embedder: learned, embeddingTimeMs };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
