import { posix } from 'node:path';
import { Failure } from '../../../../schemas/errors.js';
import { readGraph } from '../../onnx/graph.js';
import { vectorsAmong } from './pass.js';
import { denseFolders } from './sentence-modules.js';

/** Dimensions of an output with a vector for each text. */
const POOLED = 2;

/** Whether a graph pools by itself; not where its file does not say. */
function pools(graph: string): boolean {
  const { outputs } = readGraph(graph);
  const vectors = vectorsAmong(outputs.map(({ name }) => name));
  return outputs.some(({ name, dims }) => name === vectors && dims.length === POOLED);
}

/**
 * The weights of dense layers that a model names and its folder lacks, relative to it; none where the graph pools by itself, which uses none, nor of a
 * `modules.json` that cannot be read, since opening says what is wrong with it. For graphs that `inspectGraph` has found to be sound.
 */
export function lackingWeights(folder: string, files: ReadonlySet<string>, graphs: readonly string[]): string[] {
  let layers: string[] = [];
  try {
    layers = denseFolders(folder);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  const lacking = layers.map((layer) => posix.join(layer, 'model.safetensors')).filter((file) => !files.has(file));
  return lacking.length === 0 || graphs.every(pools) ? [] : lacking;
}
