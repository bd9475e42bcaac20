import type { NativeModelInfo } from '../../../../native/contract.js';
import type { RankingFacts } from '../../../formats/gguf/ranking.js';
import type { Pooling } from '../../contracts/encoder.js';

/** How a reranking model is asked, and what its vocabulary makes control tokens of. */
export interface Ranking extends RankingFacts {
  readonly controlTexts: readonly string[];
}

/** Asks a fresh host to load an embedding model, or one that ranks. */
export interface EncoderOpenBody {
  readonly path: string;
  readonly threads: number;
  readonly flashAttention: boolean;
  /** Layers on the GPU; -1 = all. */
  readonly gpuLayers: number;
  /** Tokens of one text at most. */
  readonly maxLength: number;
  /** Given for a model that ranks. */
  readonly ranking?: Ranking;
}

/** What a loaded embedding model is. */
export interface EncoderOpened {
  readonly native: NativeModelInfo;
  readonly maxLength: number;
  readonly dimensions: number;
  readonly pooling: Pooling | 'rank';
  readonly poolingKnown: boolean;
  /** Every device that the engine found, the CPU included. */
  readonly devices: { readonly name: string; readonly kind: 'cpu' | 'gpu' | 'accel' }[];
}

/** Texts to embed, or to compare with the query; `maxLength` is at most that of the model. */
export interface EncoderEmbedBody {
  readonly query?: string;
  readonly texts: readonly string[];
  readonly urgent: boolean;
  readonly maxLength: number;
  /** As in `EncoderCall`. */
  readonly whole: boolean;
}

/** Vectors, or scores, one after the other, and the tokens of each text after truncation. */
export interface EncoderEmbedded {
  readonly vectors: Float32Array;
  readonly tokens: number[];
}
