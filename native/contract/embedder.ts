import type { NativeModelInfo } from './inference.js';

/** How an embedder is set up. */
export interface NativeEmbedderOptions {
  /** Most tokens of one text; never more than the model was trained on. */
  contextSize: number;
  threads: number;
  flashAttention: boolean;
}

/** An opened embedding model. */
export interface NativeEmbedder {
  readonly info: NativeModelInfo;
  /** Most tokens of one text. */
  readonly contextSize: number;
  readonly dimensions: number;
  readonly pooling: 'mean' | 'cls' | 'last';
  /** False where the file names no pooling, so that one was chosen by the kind of its attention. */
  readonly poolingKnown: boolean;
  /** Sync. With the special tokens of the model; special texts in the text are plain text. */
  tokenize(text: string): Int32Array;
  /**
   * Async on a pool thread, one at a time. `tokens` of all texts lie one after the other, `lengths` says how many each has; the vectors of
   * length 1 come back alike. Several texts go through the model together. Rejects with `invalid` for lengths out of range.
   */
  embed(tokens: Int32Array, lengths: Int32Array): Promise<Float32Array>;
  /** Ends the work that runs, and frees the weights. */
  close(): Promise<void>;
}
