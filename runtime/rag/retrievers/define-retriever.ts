// What every retriever has: options for the number of its hits, and a frame that checks its options and sorts its hits.

import type { RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import { type OptionShapes, type OptionValues, readOptions } from '../../config/plugin-options.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery, Retriever } from './contract.js';
import { bestHits, MOST_HITS } from './hits.js';

/** How many hits come out unless the request says so. */
export const TOP_K = { type: 'integer', default: 10, minimum: 1, maximum: MOST_HITS, description: 'Hits that come out.' } as const;

/** A number of hits to begin with, more than come out. */
export function initialK(amount: number) {
  return { type: 'integer', default: amount, minimum: 1, maximum: MOST_HITS, description: 'Hits to begin with.' } as const;
}

/** A retriever that gets its options checked and typed, and whose hits come in order and in number. */
export function defineRetriever<const S extends OptionShapes>(
  type: RetrievalStrategyType,
  size: Retriever['size'],
  options: S,
  retrieve: (query: RetrievalQuery, options: OptionValues<S>, means: RetrievalMeans) => Promise<readonly Hit[]>,
): Retriever {
  return {
    type,
    size,
    options,
    retrieve: async (query, given, means) => bestHits(await retrieve(query, readOptions(type, options, given), means), query.topK),
  };
}
