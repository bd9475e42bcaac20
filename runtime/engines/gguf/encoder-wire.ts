import type { NativeModelInfo } from '../../../native/contract.js';
import type { Pooling } from '../encoder-contract.js';

/** Asks a fresh host to load an embedding model. */
export interface EncoderOpenBody {
  readonly path: string;
  readonly threads: number;
  readonly flashAttention: boolean;
  /** Layers on the GPU; -1 = all. */
  readonly gpuLayers: number;
  /** Tokens of one text at most. */
  readonly maxLength: number;
}

/** What a loaded embedding model is. */
export interface EncoderOpened {
  readonly native: NativeModelInfo;
  readonly maxLength: number;
  readonly dimensions: number;
  readonly pooling: Pooling;
  readonly poolingKnown: boolean;
  /** Every device that the engine found, the CPU included. */
  readonly devices: { readonly name: string; readonly kind: 'cpu' | 'gpu' | 'accel' }[];
}

/** Texts to embed; `maxLength` is at most that of the model. */
export interface EncoderEmbedBody {
  readonly texts: readonly string[];
  readonly urgent: boolean;
  readonly maxLength: number;
}

/** Vectors one after the other, and the tokens of each text after truncation. */
export interface EncoderEmbedded {
  readonly vectors: Float32Array;
  readonly tokens: number[];
}
