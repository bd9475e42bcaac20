import { list, text, u32 } from '../../../models/writers/gguf-values.js';
import { type GgufFile, type TensorSource, writeGguf } from '../../../models/writers/gguf-writer.js';
import { seededRandom } from '../../../models/writers/random.js';
import { RANDOM_MODELS, randomLlama } from './random-llama.js';

const TEMPLATE = '<|im_start|>Query: {query}\nDocument: {document}<|im_end|>\n';
const { layers, headSize, width } = RANDOM_MODELS.tiny;

/** Writes a reranker of Qwen3's kind with random weights: a template, two outputs, yes and no, and their softmax. */
export function writeTemplateRanker(path: string): void {
  const { metadata, tensors } = randomLlama(RANDOM_MODELS.tiny);
  const ones = (name: string, size: number): TensorSource => ({
    name,
    type: 'F32',
    shape: [size],
    values: new Float32Array(size).fill(1),
  });
  const norms = Array.from({ length: layers }, (_, layer) =>
    ['q', 'k'].map((part) => ones(`blk.${layer}.attn_${part}_norm.weight`, headSize)),
  ).flat();
  const random = seededRandom(9);
  const head: TensorSource = {
    name: 'cls.output.weight',
    type: 'F32',
    shape: [width, 2],
    values: (chunk) => random.fill(chunk, 0.5),
  };
  const renamed = metadata.map(([key, value]) => [key.replace(/^llama\./, 'qwen3.'), value] as const);
  const file: GgufFile = {
    metadata: [
      ...renamed.filter(([key]) => key !== 'general.architecture'),
      ['general.architecture', text('qwen3')],
      ['qwen3.pooling_type', u32(4)],
      ['qwen3.classifier.output_labels', list('string', ['yes', 'no'])],
      ['tokenizer.chat_template.rerank', text(TEMPLATE)],
    ],
    tensors: [...tensors, ...norms, head],
  };
  writeGguf(path, file);
}
