import { fileFault } from './cursor.js';
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
  /** Kinds of segments by which the model tells its two texts apart. */
  readonly segments: number;
}

/** The ranking facts of a file; undefined for one whose pooling is another. Throws `invalid` for a file that says it ranks and cannot. */
export function readRanking(file: string, metadata: Metadata, tables: readonly TensorTable[]): RankingFacts | undefined {
  const architecture = String(metadata.get('general.architecture'));
  if (metadata.get(`${architecture}.pooling_type`) !== RANK) return undefined;
  const shapeOf = (name: string): readonly number[] | undefined => tables.find((table) => table.has(name))?.get(name)?.shape;
  const outputs = shapeOf('cls.output.weight')?.[1] ?? (shapeOf('cls.weight')?.[1] === 1 ? 1 : undefined);
  if (outputs === undefined) throw fileFault(file, 'tensor cls.output.weight', 'missing', 'a model whose pooling is rank has one');
  const givesProbability = PROBABILITIES.test(architecture);
  if (givesProbability && outputs < 2)
    throw fileFault(file, 'outputs of tensor cls.output.weight', outputs, 'the softmax of one is 1 for every text; two are needed');
  const labels = metadata.get(`${architecture}.classifier.output_labels`);
  if (typeof labels === 'object' && labels.length > 0 && labels.length !== outputs)
    throw fileFault(file, `length of ${architecture}.classifier.output_labels`, labels.length, `the head has ${outputs} outputs`);
  const template = metadata.get('tokenizer.chat_template.rerank');
  return {
    template: typeof template === 'string' ? checkedTemplate(file, template) : '',
    separator: metadata.get('tokenizer.ggml.add_sep_token') === true ? separatorOf(metadata) : undefined,
    givesProbability,
    segments: shapeOf('token_types.weight')?.[1] ?? 1,
  };
}

/** Either spelling of the key is in use, and 2^32 - 1 and -1 stand for "none". */
function separatorOf(metadata: Metadata): number | undefined {
  return ['seperator', 'separator']
    .map((name) => metadata.get(`tokenizer.ggml.${name}_token_id`))
    .find((id): id is number => typeof id === 'number' && id >= 0 && id !== 0xffffffff);
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
