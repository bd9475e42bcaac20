import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery } from './contract.js';
import { defineRetriever, initialK, TOP_K } from './define-retriever.js';
import { withScore } from './hits.js';
import { BASE_STRATEGY } from './strategy-types.js';

/** How a reranking model is asked. */
interface Reranking {
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
async function rerankedBy(
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
    withScore(query, hit, final[at]!, { base_rank: at + 1, base_score: hit.score, rerank_score: final[at]!, rerank_model: model }),
  );
}

/** How a reranking model is asked, as options. */
export const RERANKING = {
  timeout: {
    type: 'number',
    default: 60,
    minimum: 0.1,
    maximum: 3600,
    description: 'Seconds for all hits; then the order from before stands.',
  },
  batch_size: { type: 'integer', default: 16, minimum: 1, maximum: 256, description: 'Texts of one request.' },
  normalize_scores: { type: 'boolean', default: true, description: 'Brings scores to 0..1.' },
  max_chars_per_doc: {
    type: 'integer',
    default: 2000,
    minimum: 100,
    maximum: 1_000_000,
    description: 'Code units of a text that the model sees.',
  },
  relevance_threshold: { type: 'number', default: 0, minimum: 0, maximum: 1, description: 'Least relevance of a hit.' },
} as const;

const OPTIONS = {
  model_name: {
    type: 'string',
    default: null,
    description: 'The name of a reranking model of the project. Required.',
    examples: ['reranker'],
  },
  initial_k: initialK(30),
  final_k: TOP_K,
  ...BASE_STRATEGY,
  ...RERANKING,
} as const;

/** The hits of another strategy, put in order by a model that reads question and text together. */
export const crossEncoder = defineRetriever('CrossEncoderRerankedStrategy', 'final_k', OPTIONS, async (query, options, means) => {
  const { model_name: model } = options;
  if (model === null || model.trim() === '')
    throw new Failure('bad_request', "A CrossEncoderRerankedStrategy needs 'model_name': the name of a reranking model in runtime.models.");
  const topK = Math.max(options.initial_k, query.topK);
  const hits = await means.retrieve(options.base_strategy, options.base_strategy_config, { ...query, topK });
  if (hits.length === 0) return [];
  const asked = {
    model,
    timeoutMs: options.timeout * 1000,
    batchSize: options.batch_size,
    longest: options.max_chars_per_doc,
    normalise: options.normalize_scores,
  };
  const ranked = await rerankedBy(asked, hits, query, means);
  return ranked ? ranked.filter((hit) => hit.score >= options.relevance_threshold) : hits;
});
