import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BertHead, type BertShape, bertGraph } from '../writers/onnx-bert.js';
import { quantised } from '../writers/onnx-quantise.js';
import { type OnnxGraph, writeOnnx } from '../writers/onnx-writer.js';
import { byteBpe, unigram, type WrittenTokenizer, wordPiece } from '../writers/tokenizer-writer.js';
import { type Behaviour, HIDDEN, NER_LABELS, NLI_LABELS, SENTIMENT_LABELS, tinyWeights } from './weights.js';
import { WORDS } from './words.js';

/** Tokens that one text may have. */
export const TINY_LENGTH = 64;
/** RoBERTa's positions begin after its padding token's id. */
const ROBERTA_SHIFT = 2;

/** What a tiny encoder is for. */
export type TinyTask = 'embedding' | 'reranking' | 'sentiment' | 'nli' | 'ner';

/** The kind of vocabulary: BERT's in lower case or as written, RoBERTa's, XLM-R's. */
export type TinyTokenizer = 'uncased' | 'cased' | 'bpe' | 'unigram';

/** How a tiny encoder is made. */
export interface TinyEncoder {
  readonly task: TinyTask;
  readonly tokenizer?: TinyTokenizer;
  /** The line of `1_Pooling/config.json` that is true; none = no such file. */
  readonly pooling?: string;
  /** The graph pools by itself. */
  readonly sentenceOutput?: boolean;
  /** The graph takes `position_ids`. */
  readonly positionInput?: boolean;
  readonly int8?: boolean;
  /** Changes the graph before it is written. */
  readonly change?: (graph: OnnxGraph) => OnnxGraph;
}

const BEHAVIOURS: Readonly<Record<TinyTask, { head: BertHead; behaviour: Behaviour; labels: readonly string[] }>> = {
  embedding: { head: 'vectors', behaviour: 'bag', labels: [] },
  reranking: { head: 'classification', behaviour: 'shared', labels: ['LABEL_0'] },
  sentiment: { head: 'classification', behaviour: 'sentiment', labels: SENTIMENT_LABELS },
  nli: { head: 'classification', behaviour: 'shared', labels: NLI_LABELS },
  ner: { head: 'tokens', behaviour: 'ner', labels: NER_LABELS },
};

function tokenizerOf(kind: TinyTokenizer): WrittenTokenizer {
  const lower = WORDS.map((word) => word.toLowerCase());
  if (kind === 'uncased') return wordPiece({ words: lower, modelMaxLength: TINY_LENGTH }, true);
  const words = { words: WORDS, modelMaxLength: TINY_LENGTH };
  return kind === 'cased' ? wordPiece(words, false) : kind === 'bpe' ? byteBpe(words) : unigram(words);
}

/**
 * Writes a repository with a tiny encoder of hand-set weights into a folder: vectors that are like where texts share words, a reranker that
 * counts shared words, a sentiment of good and bad words, names of people and places. Sync: for tests and build steps only.
 */
export function writeTinyEncoder(folder: string, made: TinyEncoder): void {
  const { task, tokenizer: kind = 'uncased', pooling, sentenceOutput = false, positionInput = false, int8 = false, change } = made;
  const { tokenizer, config, tokens } = tokenizerOf(kind);
  const { head, behaviour, labels } = BEHAVIOURS[task];
  const isRoberta = kind === 'bpe' || kind === 'unigram';
  const shape: BertShape = {
    layers: 2,
    hidden: HIDDEN,
    heads: 1,
    intermediate: HIDDEN,
    vocabulary: tokens.length,
    positions: TINY_LENGTH + (isRoberta ? ROBERTA_SHIFT : 0),
    head: sentenceOutput ? 'sentence' : head,
    labels: labels.length,
    segments: isRoberta ? 0 : 2,
    positionKind: positionInput ? 'input' : isRoberta ? 'roberta' : 'absolute',
  };
  const graph = bertGraph(shape, tinyWeights(shape, tokens, behaviour));
  const changed = change ? change(graph) : graph;
  const modelType = kind === 'bpe' ? 'roberta' : kind === 'unigram' ? 'xlm-roberta' : 'bert';
  const id2label = Object.fromEntries(labels.map((label, index) => [index, label]));
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const json = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
  json('config.json', {
    model_type: modelType,
    max_position_embeddings: shape.positions,
    vocab_size: tokens.length,
    hidden_size: HIDDEN,
    pad_token_id: isRoberta ? 1 : 0,
    ...(labels.length > 0 ? { id2label } : {}),
  });
  json('tokenizer.json', tokenizer);
  json('tokenizer_config.json', config);
  if (pooling !== undefined) {
    mkdirSync(join(folder, '1_Pooling'), { recursive: true });
    json('1_Pooling/config.json', { word_embedding_dimension: HIDDEN, [pooling]: true });
  }
  writeFileSync(join(folder, 'onnx/model.onnx'), writeOnnx(int8 ? quantised(changed) : changed));
}
