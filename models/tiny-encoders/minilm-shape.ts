import { type BertShape, bertGraph } from '../writers/onnx-bert.js';
import { quantised } from '../writers/onnx-quantise.js';
import { writeOnnx } from '../writers/onnx-writer.js';
import { seededRandom } from '../writers/random.js';

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

/** Random weights in MiniLM's shape, as floats and as dynamic int8: what costs time is the same, what comes out means nothing. */
export function writeMiniLmShape(): { float: Uint8Array; int8: Uint8Array } {
  const random = seededRandom(1);
  const graph = bertGraph(MINILM, (name, dims) => {
    const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
    if (/LayerNorm\.weight$/.test(name)) return values.fill(1);
    if (!/bias$/.test(name)) random.fill(values, SCALE);
    return values;
  });
  return { float: writeOnnx(graph), int8: writeOnnx(quantised(graph)) };
}
