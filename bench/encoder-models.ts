import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeGguf } from '../models/writers/gguf-writer.js';
import { seededRandom } from '../models/writers/random.js';
import { MINILM, minilmWeights, writeMiniLmShape } from '../test/support/models/tiny-encoders/minilm-shape.js';
import { bertGguf } from '../test/support/models/writers/gguf-bert.js';
import { wordPiece } from '../test/support/models/writers/tokenizer-writer.js';
import { PEERS } from './peers.js';

const LENGTHS = [6, 9, 12, 15, 20, 28, 40, 64];
const VOCABULARY_WORDS = 400;
const LETTERS = 'abcdefghijklmnopqrst';

const word = (index: number): string => `w${LETTERS[index % 20]}${LETTERS[Math.floor(index / 20) % 20]}`;
const TOKENIZER = wordPiece({ words: Array.from({ length: VOCABULARY_WORDS }, (_, index) => word(index)), modelMaxLength: 512 }, true);

/** Texts of 6 to 64 words, as questions and passages are; each word is one token. */
export const texts = (count: number, seed = 0): string[] =>
  Array.from({ length: count }, (_, row) =>
    Array.from({ length: LENGTHS[(row * 5 + seed) % LENGTHS.length]! }, (_, at) =>
      word((row * 31 + at * 17 + seed) % VOCABULARY_WORDS),
    ).join(' '),
  );

/** Texts of 1 to 96 words, most of them short: every length is a shape of its own. */
export function mixedTexts(count: number, seed: number): string[] {
  const random = seededRandom(seed + 1);
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + Math.floor(96 * random.next() ** 3) }, () => word(Math.floor(random.next() * VOCABULARY_WORDS))).join(' '),
  );
}

/** A repository with random weights in MiniLM's shape, made once: vectors, or the one logit of a reranker. */
export function modelFolder(head: 'vectors' | 'classification'): string {
  const folder = join(PEERS, 'models', head === 'vectors' ? 'minilm-shape' : 'minilm-reranker');
  if (existsSync(join(folder, 'onnx/model_quantized.onnx'))) return folder;
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const json = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
  json('tokenizer.json', TOKENIZER.tokenizer);
  json('tokenizer_config.json', TOKENIZER.config);
  const labels = head === 'classification' ? { id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } } : {};
  json('config.json', {
    model_type: 'bert',
    max_position_embeddings: 512,
    hidden_size: 384,
    vocab_size: 30_522,
    pad_token_id: 0,
    ...labels,
  });
  const { float, int8 } = writeMiniLmShape(head);
  writeFileSync(join(folder, 'onnx/model.onnx'), float);
  writeFileSync(join(folder, 'onnx/model_int8.onnx'), int8);
  // transformers.js looks for this name.
  writeFileSync(join(folder, 'onnx/model_quantized.onnx'), int8);
  return folder;
}

/** Makes a GGUF file of the same shape for llama-server, once. */
export function ggufPath(type: 'F32' | 'Q8_0'): string {
  const path = join(PEERS, 'models', `minilm-shape.${type}.gguf`);
  if (existsSync(path)) return path;
  mkdirSync(join(PEERS, 'models'), { recursive: true });
  writeGguf(
    path,
    bertGguf({ name: 'minilm shape', shape: MINILM, weights: minilmWeights(), vocabulary: TOKENIZER.tokens, pooling: 'mean', type }),
  );
  return path;
}
