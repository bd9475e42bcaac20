import type { NativeModelInfo } from './inference.js';

/** How an embedder is set up. */
export interface NativeEmbedderOptions {
  /** Most tokens of one text; never more than the model was trained on. */
  contextSize: number;
  threads: number;
  flashAttention: boolean;
  /** True for a file with a ranking head: what comes back of a text is its score instead of its vector. */
  ranks: boolean;
}

/** An opened embedding model. */
export interface NativeEmbedder {
  readonly info: NativeModelInfo;
  /** Most tokens of one text. */
  readonly contextSize: number;
  /** Numbers that come back of a text. */
  readonly dimensions: number;
  readonly pooling: 'mean' | 'cls' | 'last' | 'rank';
  /** False where the file names no pooling, so that one was chosen by the kind of its attention. */
  readonly poolingKnown: boolean;
  /**
   * Sync. `plain` (the default): with the special tokens of the model around it; special texts in it are plain text. `template`: special
   * texts become their tokens, and none is added.
   */
  tokenize(text: string, kind?: 'plain' | 'template'): Int32Array;
  /**
   * Async on a pool thread, one at a time. `tokens` of all texts lie one after the other, `lengths` says how many each has; the vectors of
   * length 1, or the scores, come back alike. Several texts go through the model together. Rejects with `invalid` for lengths out of range.
   */
  embed(tokens: Int32Array, lengths: Int32Array): Promise<Float32Array>;
  /** Ends the work that runs, and frees the weights. */
  close(): Promise<void>;
}
