/** Sizes and constants of a BERT-shaped encoder. */
export interface EncoderShape {
  /** Numbers of a token's state, 1 to 8192; a multiple of `heads`. */
  width: number;
  /** 1 to 128. */
  layers: number;
  heads: number;
  /** Numbers between the two products of a layer's network, 1 to 16384. */
  inner: number;
  /** Rows of the table of words. */
  vocabulary: number;
  /** Rows of the table of positions; a text may have `positions` - `firstPosition` tokens. */
  positions: number;
  /** Kinds of segments; 0: none. */
  types: number;
  /** Of every norm, added to the variance. */
  epsilon: number;
  /** Of a layer's network; `gelu` is the exact form, by the error function. */
  activation: 'gelu' | 'gelu_tanh' | 'relu';
  /** Position of a text's first token: 0, of RoBERTa 2. */
  firstPosition: number;
}

/** Bytes that stand for (byte - zero point) * scale. */
export interface QuantisedValues {
  weights: Int8Array | Uint8Array;
  /** One per column, or one for all. */
  scales: Float32Array;
  /** As many as `scales`, each in the range of a byte of `weights`; all 0 when missing. */
  zeroPoints?: Int32Array;
}

/** Bytes of a product, which takes its inputs as bytes too, with a scale for each token. */
export interface QuantisedDense extends QuantisedValues {
  /** One factor per input, by which it is multiplied before it becomes a byte: what evens columns out. */
  inputScale?: Float32Array;
}

/** Weights of y = x W + b; W row-major [inputs, outputs], as ONNX's MatMul has it. */
export type Dense = { inputs: number; outputs: number; bias?: Float32Array } & ({ weights: Float32Array } | QuantisedDense);

/** Of a layer normalisation: one number each per column. */
export interface Norm {
  weight: Float32Array;
  bias: Float32Array;
}

/** Weights of one layer, its norms behind the sums (as BERT has them). */
export interface EncoderLayer {
  query: Dense;
  key: Dense;
  value: Dense;
  /** After the heads. */
  output: Dense;
  attentionNorm: Norm;
  up: Dense;
  down: Dense;
  outputNorm: Norm;
}

/** What stands after the layers: take each text's first token or the mean of all (every one when never said), once at most; products with an activation. */
export type HeadStep = { take: 'first' | 'mean' } | { dense: Dense; activation: 'none' | 'tanh' | 'gelu' | 'relu' };

/** Everything that an encoder has learned. */
export interface EncoderWeights {
  /** [vocabulary, width]. */
  words: Float32Array | QuantisedValues;
  /** [positions, width]. */
  positions: Float32Array;
  /** [types, width], when there are any. */
  types?: Float32Array;
  /** Of the sum of the three. */
  norm: Norm;
  layers: EncoderLayer[];
  head: HeadStep[];
}

/** Settings of the passes. */
export interface EncoderOptions {
  /** 1 to 64, 1 when missing; the caller's pool thread is one of them. */
  threads?: number;
}

/**
 * The forward pass of a BERT-shaped encoder. Weights are copied by `openEncoder` into the order in which they are read. Floats are multiplied as numbers
 * of 16 bits, with a scale for each token and column, unless a few of a column are so large that the others would keep too little; all else is f32.
 */
export interface NativeEncoder {
  /** Memory of the weights, as they are kept. */
  readonly bytes: number;
  /** Numbers of one row of a result. */
  readonly outputs: number;
  /**
   * `ids` has the tokens of one text after another, `lengths` (each at least 1) says how many each has, `types` is as long as `ids` and all 0 when
   * missing. Copied in the call; at most 2^16 tokens and 2^26 numbers of result, else Failure('too_large'). Gives [tokens, outputs], or [texts,
   * outputs] after a `take`. Runs on the thread pool, one call after the other, in order; 1024 may wait, then Failure('busy'). Rejects with
   * Failure('invalid') for sizes that do not fit, ids, lengths and types out of range, after `close` with ('unavailable').
   */
  run(ids: Int32Array, lengths: Int32Array, types?: Int32Array): Promise<Float32Array>;
  /**
   * Sync: the same on the caller's thread, for passes that are shorter than the way to the pool and back is worth, where nobody else waits for that thread.
   * Throws what `run` rejects with, and Failure('busy') while a call of `run` is under way.
   */
  runNow(ids: Int32Array, lengths: Int32Array, types?: Int32Array): Float32Array;
  /** Sync. The call that runs is still answered, then the memory is freed; those that wait are refused. */
  close(): void;
}
