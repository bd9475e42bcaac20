import { seededRandom } from '../../../../models/writers/random.js';
import { type BertShape, type BertWeights, bertGraph } from '../writers/onnx-bert.js';
import { quantised } from '../writers/onnx-quantise.js';
import { writeOnnx } from '../writers/onnx-writer.js';

/** The shape of all-MiniLM-L6-v2. */
export const MINILM: BertShape = {
  layers: 6,
  hidden: 384,
  heads: 12,
  intermediate: 1536,
  vocabulary: 30_522,
  positions: 512,
  head: 'vectors',
};
const SCALE = 0.05;

/** Random weights for MiniLM's shape, in the order in which they are asked for. */
export function minilmWeights(): BertWeights {
  const random = seededRandom(1);
  return (name, dims) => {
    const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
    if (/LayerNorm\.weight$/.test(name)) return values.fill(1);
    if (!/bias$/.test(name)) random.fill(values, SCALE);
    return values;
  };
}

/**
 * Random weights in MiniLM's shape, as floats and as dynamic int8: what costs time is the same, what comes out means nothing. A
 * classification head has one label, as rerankers have.
 */
export function writeMiniLmShape(head: 'vectors' | 'classification' = 'vectors'): { float: Uint8Array; int8: Uint8Array } {
  const graph = bertGraph({ ...MINILM, head, labels: 1 }, minilmWeights());
  return { float: writeOnnx(graph), int8: writeOnnx(quantised(graph)) };
}
