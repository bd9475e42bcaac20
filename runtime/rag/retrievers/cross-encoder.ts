import { Failure } from '../../../schemas/errors.js';
import { defineRetriever, initialK, TOP_K } from './define.js';
import { BASE } from './nested.js';
import { rerankedBy } from './rerank/model.js';

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
  model_name: { type: 'string', default: null, description: 'The name of a reranking model of the project. Required.' },
  initial_k: initialK(30),
  final_k: TOP_K,
  ...BASE,
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
