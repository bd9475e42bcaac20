import { isObject } from '../../base/json.js';
import type { Metadata } from '../../documents/contract.js';
import type { Filter } from '../contract.js';
import { conditionsOf, passesAll } from '../stores/metadata.js';
import { defineRetriever, TOP_K } from './define-retriever.js';
import { withScore } from './hits.js';
import { hitsByMetric, METRIC } from './vector-metric.js';

const OPTIONS = {
  top_k: TOP_K,
  filters: {
    type: 'object',
    default: {},
    description: 'Conditions on metadata, all of which must hold.',
    examples: [{ year: { $gte: 2024 } }],
  },
  default_filters: {
    type: 'object',
    default: {},
    description: 'Conditions on keys that neither filters nor the request name.',
    examples: [{ language: 'en' }],
  },
  filter_mode: { type: 'string', default: 'pre', enum: ['pre', 'post'], description: 'Filter inside the search, or after it.' },
  fallback_multiplier: {
    type: 'integer',
    default: 3,
    minimum: 1,
    maximum: 10,
    description: 'After the search: hits fetched per hit wanted.',
  },
  distance_metric: METRIC,
} as const;

/** Two filters as one that asks for both, or undefined where they say different things of one key. */
function bothFilters(first: Filter, second: Filter): Filter | undefined {
  const all: Metadata = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const known = all[key];
    if (known === undefined) all[key] = value;
    else if (isObject(known) && isObject(value) && Object.keys(value).every((name) => !Object.hasOwn(known, name)))
      all[key] = { ...known, ...value };
    else return undefined;
  }
  return all;
}

/** The nearest chunks whose metadata passes the strategy's filters and the request's. */
export const metadataFiltered = defineRetriever('MetadataFilteredStrategy', 'top_k', OPTIONS, async (query, options, means) => {
  const requested = query.filter ?? {};
  const own: Metadata = { ...options.filters };
  for (const [key, value] of Object.entries(options.default_filters)) if (!(key in own) && !(key in requested)) own[key] = value;
  const filter = options.filter_mode === 'pre' ? bothFilters(requested, own) : undefined;
  if (filter) return hitsByMetric({ ...query, filter }, means, query.topK, options.distance_metric);
  const conditions = [...conditionsOf(requested), ...conditionsOf(own)];
  const { filter: _inside, ...open } = query;
  const hits = await hitsByMetric(
    options.filter_mode === 'pre' ? query : open,
    means,
    query.topK * options.fallback_multiplier,
    options.distance_metric,
  );
  return hits
    .filter((hit) => passesAll(conditions, hit.metadata))
    .map((hit) => withScore(query, hit, hit.score, { filter_mode: 'post', fetched: hits.length }));
});
