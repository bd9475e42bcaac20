import type { GgufFile, TensorSource } from '../../../../models/writers/gguf-writer.js';
import type { TensorType } from '../../../../models/writers/tensor-types.js';
import { bertMetadata, type POOLING_TYPES } from './bert-metadata.js';
import type { BertShape, BertWeights } from './onnx-bert.js';

/** What a GGUF embedding model of BERT's architecture is made of. */
export interface GgufBert {
  readonly name: string;
  /** As for the ONNX graph; its head is written where the pooling is `rank`. Without `segments` there are two. */
  readonly shape: Omit<BertShape, 'head' | 'positionKind'>;
  readonly weights: BertWeights;
  /** Tokens of a WordPiece tokenizer by id, with `##` at those that go on a word. */
  readonly vocabulary: readonly string[];
  /** Undefined for a file that names none. */
  readonly pooling: keyof typeof POOLING_TYPES | undefined;
  /** Type of the matrices; tables, norms and biases are F32. */
  readonly type: TensorType;
}

/** ggml's names of the parts of a layer, by those of BERT's checkpoints. */
const PARTS: Readonly<Record<string, string>> = {
  'attention.self.query': 'attn_q',
  'attention.self.key': 'attn_k',
  'attention.self.value': 'attn_v',
  'attention.output.dense': 'attn_output',
  'attention.output.LayerNorm': 'attn_output_norm',
  'intermediate.dense': 'ffn_up',
  'output.dense': 'ffn_down',
  'output.LayerNorm': 'layer_output_norm',
};

/** The GGUF file of an encoder with the weights that `bertGraph` puts into an ONNX graph. */
export function bertGguf({ name, shape, weights, vocabulary, pooling, type }: GgufBert): GgufFile {
  const { layers, hidden, heads, intermediate, positions, segments = 2, labels = 1 } = shape;
  // ggml names the row length first, checkpoints the rows.
  const tensor = (to: string, from: string, dims: readonly number[], as: TensorType): TensorSource => {
    return { name: to, type: as, shape: [...dims].reverse(), values: weights(from, dims) };
  };
  const norm = (to: string, from: string): TensorSource[] =>
    ['weight', 'bias'].map((part) => tensor(`${to}.${part}`, `${from}.${part}`, [hidden], 'F32'));
  const linear = (to: string, from: string, [outputs, inputs]: readonly [number, number]): TensorSource[] => [
    tensor(`${to}.weight`, `${from}.weight`, [outputs, inputs], type),
    tensor(`${to}.bias`, `${from}.bias`, [outputs], 'F32'),
  ];
  const dims = (part: string): [outputs: number, inputs: number] =>
    part === 'intermediate.dense' ? [intermediate, hidden] : part === 'output.dense' ? [hidden, intermediate] : [hidden, hidden];
  const layer = (at: number): TensorSource[] =>
    Object.entries(PARTS).flatMap(([part, short]) => {
      const [to, from] = [`blk.${at}.${short}`, `encoder.layer.${at}.${part}`];
      return part.endsWith('LayerNorm') ? norm(to, from) : linear(to, from, dims(part));
    });
  const tensors = [
    tensor('token_embd.weight', 'embeddings.word_embeddings.weight', [vocabulary.length, hidden], 'F32'),
    tensor('token_types.weight', 'embeddings.token_type_embeddings.weight', [segments, hidden], 'F32'),
    tensor('position_embd.weight', 'embeddings.position_embeddings.weight', [positions, hidden], 'F32'),
    ...norm('token_embd_norm', 'embeddings.LayerNorm'),
    ...Array.from({ length: layers }, (_, at) => layer(at)).flat(),
  ];
  if (pooling === 'rank')
    tensors.push(...linear('cls', 'pooler.dense', [hidden, hidden]), ...linear('cls.output', 'classifier', [labels, hidden]));
  const sizes = { layers, width: hidden, heads, feedForward: intermediate, contextLength: positions, segments };
  return { metadata: bertMetadata(name, sizes, vocabulary, pooling), tensors };
}
