import { defineRetriever, lexicalHits, TOP_K } from './retriever.js';

/** The chunks that share words with the question, by BM25; needs no embedding. */
export const bm25 = defineRetriever('BM25Retriever', 'top_k', { top_k: TOP_K }, (query, _options, means) =>
  lexicalHits(query, means, query.topK),
);
