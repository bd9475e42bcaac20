import { fileFault } from './fault.js';
import type { Metadata } from './metadata.js';
import type { TensorTable } from './tensors.js';

/** llama.cpp's number for a head that ranks pairs. */
const RANK = 4;
/** Longest template of a pair, in characters. */
const TEMPLATE_LIMIT = 64 * 1024;
/** Families whose head ends in a softmax, so that probabilities come back instead of logits. */
const PROBABILITIES = /^qwen3(vl)?$/;

/** How a reranking model wants its pairs, and what its head gives. */
export interface RankingFacts {
  /** With `{query}` and `{document}`; empty for tokens that stand one after the other. */
  readonly template: string;
  /** The token between the texts, beyond the one that ends the first; undefined for none. */
  readonly separator: number | undefined;
  /** Whether the head gives probabilities; logits otherwise. */
  readonly givesProbability: boolean;
}

/** The ranking facts of a file; undefined for one whose pooling is another. Throws `invalid` for a file that says it ranks and cannot. */
export function readRanking(file: string, metadata: Metadata, tables: readonly TensorTable[]): RankingFacts | undefined {
  const architecture = String(metadata.get('general.architecture'));
  if (metadata.get(`${architecture}.pooling_type`) !== RANK) return undefined;
  const shapeOf = (name: string): readonly number[] | undefined => tables.find((table) => table.has(name))?.get(name)?.shape;
  const alone = shapeOf('cls.weight');
  if (!shapeOf('cls.output.weight') && (alone === undefined || (alone[1] ?? 1) !== 1))
    throw fileFault(file, 'tensor cls.output.weight', 'missing', 'a model whose pooling is rank has one');
  if ((shapeOf('token_types.weight')?.[1] ?? 1) > 1)
    throw fileFault(
      file,
      'shape of tensor token_types.weight',
      shapeOf('token_types.weight')!.join(' x '),
      'the engine gives both texts of a pair the first segment, so the scores would be wrong; use the ONNX files of this reranker',
    );
  const template = metadata.get('tokenizer.chat_template.rerank');
  const separator = metadata.get('tokenizer.ggml.seperator_token_id') ?? metadata.get('tokenizer.ggml.separator_token_id');
  return {
    template: typeof template === 'string' ? checkedTemplate(file, template) : '',
    separator: metadata.get('tokenizer.ggml.add_sep_token') === true && typeof separator === 'number' ? separator : undefined,
    givesProbability: PROBABILITIES.test(architecture),
  };
}

function checkedTemplate(file: string, template: string): string {
  const isUsable = template.length <= TEMPLATE_LIMIT && template.includes('{query}') && template.includes('{document}');
  if (isUsable) return template;
  throw fileFault(
    file,
    'tokenizer.chat_template.rerank',
    `${template.length} characters`,
    `at most ${TEMPLATE_LIMIT} with {query} and {document} in them are needed`,
  );
}
