import { Failure } from '../../../../schemas/errors.js';
import { log } from '../../../base/log.js';
import type { Hit } from '../../contract.js';
import type { RetrievalMeans, RetrievalQuery } from '../contract.js';
import { scored } from '../explain.js';

/** How a reranking model is asked. */
export interface Reranking {
  readonly model: string;
  readonly timeoutMs: number;
  readonly batchSize: number;
  /** Code units of a text that the model sees. */
  readonly longest: number;
  readonly normalise: boolean;
}

/** Scores as 0..1: those outside are logits, and go through the logistic function together. */
export function relevances(scores: readonly number[]): number[] {
  const inside = scores.every((score) => score >= 0 && score <= 1);
  return inside ? [...scores] : scores.map((score) => 1 / (1 + Math.exp(-score)));
}

/**
 * The hits with the scores of a reranking model, or undefined where it failed, so that the order from before stands. A model that is not
 * known is thrown, and so is the abort.
 */
export async function rerankedBy(
  { model, timeoutMs, batchSize, longest, normalise }: Reranking,
  hits: readonly Hit[],
  query: RetrievalQuery,
  means: RetrievalMeans,
): Promise<Hit[] | undefined> {
  const untilMs = performance.now() + timeoutMs;
  const scores: number[] = [];
  try {
    for (let from = 0; from < hits.length; from += batchSize) {
      const texts = hits.slice(from, from + batchSize).map((hit) => hit.text.slice(0, longest));
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) throw new Failure('timed_out', `The reranking model '${model}' took longer than ${timeoutMs / 1000} s.`);
      const batch = await means.rerank(model, query.text, texts, leftMs, normalise);
      if (batch.length !== texts.length || !batch.every(Number.isFinite))
        throw new Failure('model_failed', `The reranking model '${model}' answered ${batch.length} scores to ${texts.length} texts.`);
      scores.push(...batch);
    }
  } catch (error) {
    query.signal.throwIfAborted();
    if (error instanceof Failure && error.kind === 'not_found') throw error;
    log('warn', 'a reranking model failed; the order from before stands', { model, error });
    return undefined;
  }
  const final = normalise ? relevances(scores) : scores;
  return hits.map((hit, at) =>
    scored(query, hit, final[at]!, { base_rank: at + 1, base_score: hit.score, rerank_score: final[at]!, rerank_model: model }),
  );
}
