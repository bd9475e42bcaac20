import type { RetrievalStrategyType } from '../../../schemas/generated/config/rag.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import type { Metadata } from '../../documents/contract.js';
import type { Outbound } from '../../net/outbound.js';
import type { Filter, Hit } from '../contract.js';
import type { Purpose } from '../embedders/contract.js';
import type { StoreAnswer, StoreQuery } from '../stores/contract.js';

/** A question as a retriever gets it. */
export interface RetrievalQuery {
  readonly text: string;
  /** Hits wanted; the request's, else the strategy's. */
  readonly topK: number;
  readonly filter?: Filter;
  readonly explain: boolean;
  readonly signal: AbortSignal;
}

/** What a retriever may use. */
export interface RetrievalMeans {
  /** For hosts that a strategy names itself. */
  readonly outbound: Outbound;
  /** One vector per text; as questions unless told otherwise. */
  embed(texts: readonly string[], purpose?: Purpose): Promise<Float32Array[]>;
  search(query: StoreQuery): Promise<StoreAnswer>;
  /** How much dense search of this embedder counts beside BM25. */
  denseTrust(): DenseTrust;
  /**
   * Relevance of each text to the query by a reranking model of the runtime: 0 to 1, or as the model itself scores. Throws `unavailable` or
   * `not_found`.
   */
  rerank(model: string, query: string, texts: readonly string[], timeoutMs: number, normalise: boolean): Promise<number[]>;
  /** The answer of a chat model of the project to one prompt. Throws `unavailable` or `not_found`. */
  complete(model: string, prompt: string, maxTokens: number): Promise<string>;
  /** Retrieves with another strategy of the list, for those that build on one. Throws `bad_request` where they are nested too deep. */
  retrieve(type: RetrievalStrategyType, options: Metadata, query: RetrievalQuery): Promise<Hit[]>;
}

/** One retrieval strategy. */
export interface Retriever {
  readonly type: RetrievalStrategyType;
  /** Its options with their defaults and ranges. */
  readonly options: OptionShapes;
  /** The option that says how many hits come out. */
  readonly size: 'top_k' | 'final_k' | 'final_top_k';
  /** `options` are the configured ones over the defaults. Hits come best first, at most `topK`. */
  retrieve(query: RetrievalQuery, options: Metadata, means: RetrievalMeans): Promise<Hit[]>;
}

/** How much dense search counts beside BM25. */
export interface DenseTrust {
  /** Of two rankings whose best stand out alike, 0 to 1. */
  readonly share: number;
  /** 0 = the same share for every question; the higher, the more a ranking counts whose best hit stands out of it. */
  readonly standing: number;
}
