import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeGguf } from '../../../models/writers/gguf-writer.js';
import { seededRandom } from '../../../models/writers/random.js';
import type { TensorType } from '../../../models/writers/tensor-types.js';
import { bertGguf } from './writers/gguf-bert.js';
import { type BertHead, type BertShape, type BertWeights, bertGraph } from './writers/onnx-bert.js';
import { writeOnnx } from './writers/onnx-writer.js';
import { wordPiece } from './writers/tokenizer-writer.js';

const HIDDEN = 64;
const POSITIONS = 128;
const WORDS = `a an and are at by cat city dog does fish for from garden green grow harbour has how in is it lives mat moon of on opens
  planted red river rose sat ship sun tea the this to tomatoes tree was water what when where who with works yellow Anna Bruno Hamburg
  Paris`.split(/\s+/);

const { tokenizer, config, tokens } = wordPiece({ words: WORDS, modelMaxLength: POSITIONS }, false);

/** The token of a text that is one of the words. */
export const tokenOf = (word: string): number => tokens.indexOf(word);

/** The shape of all tiny encoders. */
export const TINY_SHAPE = {
  layers: 2,
  hidden: HIDDEN,
  heads: 4,
  intermediate: 128,
  vocabulary: tokens.length,
  positions: POSITIONS,
} as const;

const numberOf = (name: string): number => Array.from(name).reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 7);

/** Weights by which tokens keep their own meaning: large word vectors, small everything else. */
export const tinyWeights: BertWeights = (name, dims) => {
  const values = new Float32Array(dims.reduce((product, size) => product * size, 1));
  if (name.endsWith('LayerNorm.weight')) return values.fill(1);
  const large = name === 'embeddings.word_embeddings.weight' || name.startsWith('classifier') || name.startsWith('pooler');
  seededRandom(numberOf(name)).fill(values, large ? 1 : 0.05);
  return values;
};

/** A token head that finds the words given for each label; `O` is the first label. */
export function headOf(words: readonly (readonly string[])[]): BertWeights {
  return (name, dims) => {
    if (!name.startsWith('classifier')) return tinyWeights(name, dims);
    const values = new Float32Array(dims.reduce((product, size) => product * size, 1));
    if (name.endsWith('bias')) return values.fill(9, 0, 1);
    const vectors = tinyWeights('embeddings.word_embeddings.weight', [tokens.length, HIDDEN]);
    for (const [label, known] of words.entries()) {
      for (const word of known) {
        for (let at = 0; at < HIDDEN; at += 1) values[label * HIDDEN + at]! += vectors[tokenOf(word) * HIDDEN + at]! * 0.5;
      }
    }
    return values;
  };
}

/** A repository of a tiny encoder. */
export interface TinyEncoder {
  readonly head: BertHead;
  readonly labels?: readonly string[];
  /** Kinds of segments; 0 for none, as RoBERTa's family has it. */
  readonly segments?: number;
  readonly weights?: BertWeights;
  readonly pooling?: 'mean' | 'cls';
  /** Files of the graph, relative; `onnx/model.onnx` unless given. */
  readonly graphs?: readonly string[];
}

const CLASS: Readonly<Record<BertHead, string>> = {
  vectors: 'BertModel',
  sentence: 'BertModel',
  classification: 'BertForSequenceClassification',
  tokens: 'BertForTokenClassification',
};

/** Writes a repository as hubs have it: graph, tokenizer, configuration. */
export function writeEncoder(
  folder: string,
  { head, labels, segments = 2, weights = tinyWeights, pooling, graphs = ['onnx/model.onnx'] }: TinyEncoder,
): void {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const shape: BertShape = { ...TINY_SHAPE, head, segments, ...(labels ? { labels: labels.length } : {}) };
  const bytes = writeOnnx(bertGraph(shape, weights));
  for (const graph of graphs) writeFileSync(join(folder, graph), bytes);
  const settings = {
    model_type: 'bert',
    architectures: [CLASS[head]],
    hidden_size: HIDDEN,
    max_position_embeddings: POSITIONS,
    ...(labels ? { id2label: Object.fromEntries(labels.map((label, at) => [at, label])) } : {}),
  };
  const files: Record<string, object> = { 'config.json': settings, 'tokenizer.json': tokenizer, 'tokenizer_config.json': config };
  if (pooling) {
    mkdirSync(join(folder, '1_Pooling'), { recursive: true });
    files['1_Pooling/config.json'] = { pooling_mode_mean_tokens: pooling === 'mean', pooling_mode_cls_token: pooling === 'cls' };
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
}

/** Writes the same encoder as a GGUF file. */
export function writeGgufEncoder(
  path: string,
  { pooling, type = 'F32', positions = POSITIONS }: { pooling?: 'mean' | 'cls' | 'rank'; type?: TensorType; positions?: number } = {},
): void {
  writeGguf(
    path,
    bertGguf({ name: 'tiny bert', shape: { ...TINY_SHAPE, positions }, weights: tinyWeights, vocabulary: tokens, pooling, type }),
  );
}

/** Writes a reranker as a GGUF file: the weights of `writeEncoder` with one label and no segments. */
export function writeGgufReranker(path: string): void {
  const weights: BertWeights = (name, dims) =>
    name === 'embeddings.token_type_embeddings.weight' ? new Float32Array(dims[0]! * dims[1]!) : tinyWeights(name, dims);
  writeGguf(
    path,
    bertGguf({ name: 'tiny ranker', shape: { ...TINY_SHAPE, segments: 1 }, weights, vocabulary: tokens, pooling: 'rank', type: 'F32' }),
  );
}

/** Labels of an NLI model, in the order that such models have. */
export const NLI_LABELS = ['contradiction', 'neutral', 'entailment'];

/** Writes one repository per task below a models folder: `tiny/embedder`, `tiny/reranker`, `tiny/ranker` and the same as `tiny/gguf-ranker`, `tiny/nli`, `tiny/ner`, `tiny/gguf`. */
export function writeTinyEncoders(models: string): void {
  writeEncoder(join(models, 'tiny/embedder'), { head: 'vectors', pooling: 'mean', graphs: ['onnx/model.onnx', 'onnx/model_int8.onnx'] });
  writeEncoder(join(models, 'tiny/reranker'), { head: 'classification', labels: ['relevance'] });
  writeEncoder(join(models, 'tiny/ranker'), { head: 'classification', labels: ['relevance'], segments: 0 });
  mkdirSync(join(models, 'tiny/gguf-ranker'), { recursive: true });
  writeGgufReranker(join(models, 'tiny/gguf-ranker/ranker.F32.gguf'));
  writeEncoder(join(models, 'tiny/nli'), { head: 'classification', labels: NLI_LABELS });
  const labels = ['O', 'B-PER', 'I-PER', 'B-LOC', 'I-LOC'];
  writeEncoder(join(models, 'tiny/ner'), { head: 'tokens', labels, weights: headOf([[], ['Anna'], ['Bruno'], ['Hamburg', 'Paris'], []]) });
  mkdirSync(join(models, 'tiny/gguf'), { recursive: true });
  writeGgufEncoder(join(models, 'tiny/gguf/tiny.F32.gguf'), { pooling: 'mean' });
}
