import { Bpe } from '../../../models/writers/bpe.js';
import { PLAIN_CHATML_TEMPLATE } from '../../../models/writers/chat-template.js';
import type { GgufFile, TensorSource } from '../../../models/writers/gguf-writer.js';
import { type LlamaShape, llamaMetadata } from '../../../models/writers/llama-metadata.js';
import { seededRandom } from '../../../models/writers/random.js';
import type { TensorType } from '../../../models/writers/tensor-types.js';
import { type Vocabulary, type VocabularyToken, vocabularyMetadata, vocabularyOf } from '../../../models/writers/vocabulary.js';

/** What a random model is made of. */
export interface RandomLlama extends LlamaShape {
  readonly name: string;
  /** Type of the matrices; norms are F32. */
  readonly type: TensorType;
  /** Tokens in the vocabulary, at least 300. */
  readonly vocabularySize: number;
  readonly seed: number;
}

/** The presets: `tiny` for load tests, `packed` for the Q8_0 kernel, `bench54m` (54.1 million parameters) for benchmarks. */
export const RANDOM_MODELS = {
  tiny: {
    name: 'tiny',
    layers: 2,
    width: 64,
    heads: 2,
    headsKv: 1,
    headSize: 32,
    feedForward: 128,
    contextLength: 512,
    ropeBase: 10_000,
    type: 'F16',
    vocabularySize: 512,
    seed: 1,
  },
  packed: {
    name: 'packed',
    layers: 2,
    width: 512,
    heads: 8,
    headsKv: 4,
    headSize: 64,
    feedForward: 1536,
    contextLength: 512,
    ropeBase: 10_000,
    type: 'Q8_0',
    vocabularySize: 512,
    seed: 3,
  },
  bench54m: {
    name: 'bench54m',
    layers: 12,
    width: 512,
    heads: 8,
    headsKv: 4,
    headSize: 64,
    feedForward: 1536,
    contextLength: 4096,
    ropeBase: 10_000,
    type: 'Q8_0',
    vocabularySize: 32_000,
    seed: 2,
  },
} as const satisfies Record<string, RandomLlama>;

const SPECIAL: readonly VocabularyToken[] = ['<|im_start|>', '<|im_end|>'].map((text) => ({ text, kind: 'control' }));

/** Bytes, then syllables, then words of two and three syllables, all reachable by merges, until `size` is reached. */
export function syntheticVocabulary(size: number): Vocabulary {
  const bpe = new Bpe();
  const wanted = size - SPECIAL.length;
  const syllables = Array.from('tnsrhldcmfpgwybvkxjqz').flatMap((consonant) => Array.from('eaoiu', (vowel) => [consonant, vowel] as const));
  const add = (left: string, right: string): void => {
    if (bpe.tokens.length < wanted) bpe.addMerge(left, right);
  };
  const made = syllables.map((parts) => parts.join(''));
  for (const [consonant, vowel] of syllables) add(consonant, vowel);
  const pairs = made.flatMap((first) => made.map((second) => [first, second] as const));
  for (const [first, second] of pairs) add(first, second);
  for (const word of [...made, ...pairs.map((parts) => parts.join(''))]) add('Ġ', word);
  for (const third of made) for (const [first, second] of pairs) add(first + second, third);
  if (bpe.tokens.length !== wanted)
    throw new RangeError(`a vocabulary of ${size} is not possible: ${bpe.tokens.length + SPECIAL.length} at most`);
  return vocabularyOf(bpe, SPECIAL, '<|im_end|>');
}

/** Random weights of llama's architecture, input and output embedding tied; the same parameters give the same bytes. */
export function randomLlama(model: RandomLlama): GgufFile {
  const vocabulary = syntheticVocabulary(model.vocabularySize);
  const random = seededRandom(model.seed);
  const { width, feedForward, headSize } = model;
  const matrix = (name: string, rowLength: number, rows: number): TensorSource => ({
    name: `${name}.weight`,
    type: model.type,
    shape: [rowLength, rows],
    // Variance 1 / rowLength keeps the activations of every layer at the same size.
    values: (chunk) => random.fill(chunk, Math.sqrt(3 / rowLength)),
  });
  const ones = (name: string): TensorSource => ({
    name: `${name}.weight`,
    type: 'F32',
    shape: [width],
    values: new Float32Array(width).fill(1),
  });
  const firstSpecial = (model.vocabularySize - SPECIAL.length) * width;
  const embedding: TensorSource = {
    ...matrix('token_embd', width, model.vocabularySize),
    values: (chunk, offset) => {
      random.fill(chunk, Math.sqrt(3 / width));
      // Special tokens, the end of a turn among them, get a logit of 0, far below the best of thousands: a run lasts as long as asked.
      chunk.fill(0, Math.min(chunk.length, Math.max(0, firstSpecial - offset)));
      // So do the bytes that are no printable ASCII: the text stays valid UTF-8. They come first, in the first chunk.
      if (offset === 0)
        for (let byte = 0; byte < 256; byte += 1) if (byte < 32 || byte > 126) chunk.fill(0, byte * width, (byte + 1) * width);
    },
  };
  const layers = Array.from({ length: model.layers }, (_, layer) => [
    ones(`blk.${layer}.attn_norm`),
    matrix(`blk.${layer}.attn_q`, width, model.heads * headSize),
    matrix(`blk.${layer}.attn_k`, width, model.headsKv * headSize),
    matrix(`blk.${layer}.attn_v`, width, model.headsKv * headSize),
    matrix(`blk.${layer}.attn_output`, model.heads * headSize, width),
    ones(`blk.${layer}.ffn_norm`),
    matrix(`blk.${layer}.ffn_gate`, width, feedForward),
    matrix(`blk.${layer}.ffn_up`, width, feedForward),
    matrix(`blk.${layer}.ffn_down`, feedForward, width),
  ]).flat();
  return {
    metadata: [
      ...llamaMetadata(model.name, 'Random weights for tests', model, model.vocabularySize),
      ...vocabularyMetadata(vocabulary, PLAIN_CHATML_TEMPLATE),
    ],
    tensors: [embedding, ones('output_norm'), ...layers],
  };
}
