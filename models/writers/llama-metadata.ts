import { f32, type GgufMetadata, text, u32 } from './gguf-values.js';

/** The shape of a model of llama's architecture. */
export interface LlamaShape {
  readonly layers: number;
  /** Size of the residual stream. */
  readonly width: number;
  readonly heads: number;
  /** Heads of keys and values; a divisor of `heads`. */
  readonly headsKv: number;
  /** Size of one head, even. */
  readonly headSize: number;
  readonly feedForward: number;
  /** Tokens of context that the file declares. */
  readonly contextLength: number;
  readonly ropeBase: number;
}

/** The `general.*` and `llama.*` metadata of a model. */
export function llamaMetadata(name: string, description: string, shape: LlamaShape, vocabularySize: number): GgufMetadata {
  return [
    ['general.architecture', text('llama')],
    ['general.name', text(name)],
    ['general.description', text(description)],
    ['general.license', text('apache-2.0')],
    ['llama.block_count', u32(shape.layers)],
    ['llama.context_length', u32(shape.contextLength)],
    ['llama.embedding_length', u32(shape.width)],
    ['llama.feed_forward_length', u32(shape.feedForward)],
    ['llama.attention.head_count', u32(shape.heads)],
    ['llama.attention.head_count_kv', u32(shape.headsKv)],
    ['llama.attention.key_length', u32(shape.headSize)],
    ['llama.attention.value_length', u32(shape.headSize)],
    ['llama.attention.layer_norm_rms_epsilon', f32(1e-5)],
    ['llama.rope.dimension_count', u32(shape.headSize)],
    ['llama.rope.freq_base', f32(shape.ropeBase)],
    ['llama.vocab_size', u32(vocabularySize)],
  ];
}
