import type { RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import { basicSimilarity, bm25, vector } from './basic.js';
import type { Retriever } from './contract.js';
import { crossEncoder } from './cross-encoder.js';
import { elastic } from './elastic.js';
import { graph } from './graph.js';
import { hybrid } from './hybrid.js';
import { hybridUniversal } from './hybrid-universal.js';
import { metadataFiltered } from './metadata-filtered.js';
import { multiQuery } from './multi-query.js';
import { multiTurn } from './multi-turn.js';
import { rerankedRetriever } from './reranked-retriever.js';
import { reranked } from './reranked-strategy.js';

/** Every retrieval strategy: the list that a new one is added to. */
export const RETRIEVERS = {
  VectorRetriever: vector,
  HybridRetriever: hybrid,
  BM25Retriever: bm25,
  RerankedRetriever: rerankedRetriever,
  GraphRetriever: graph,
  ElasticRetriever: elastic,
  BasicSimilarityStrategy: basicSimilarity,
  MetadataFilteredStrategy: metadataFiltered,
  MultiQueryStrategy: multiQuery,
  RerankedStrategy: reranked,
  HybridUniversalStrategy: hybridUniversal,
  CrossEncoderRerankedStrategy: crossEncoder,
  MultiTurnRAGStrategy: multiTurn,
} as const satisfies Record<RetrievalStrategyType, Retriever>;
